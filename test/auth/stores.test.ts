import { join } from 'node:path';
import t, { type Test } from 'tap';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import { openStores } from '#acuity/auth/location.js';
import type { KeyRecord } from '#acuity/auth/record.js';
import type { KeyStores } from '#acuity/auth/store.js';
import { REDIS, startStore, VALKEY_IF_NAMED, type StoreProgram } from '../fixtures/redis.js';
import { until } from '../fixtures/until.js';

/** The behaviour of every kind of key store. */

let issued = 0;

/** Each a second after the one before. */
function newRecord(label = ''): KeyRecord {
  return issue({ kind: 'demo', label }, Date.UTC(2030) + 1000 * issued++).record;
}

function labels(records: readonly KeyRecord[]): string[] {
  return records.map(({ label }) => label).toSorted();
}

/** A store as one process has it open; each call is another process's. */
type Open = () => Promise<KeyStores>;

/** A fresh place for keys. */
type NewPlace = (t: Test) => Promise<Open>;

function opener(t: Test, location: string): Open {
  return async () => {
    const stores = await openStores(location);
    t.teardown(() => stores.close());
    return stores;
  };
}

const inFile: NewPlace = async (t) => opener(t, `file:${join(t.testdir(), 'keys.json')}`);

function inStore(program: StoreProgram): NewPlace {
  return async (t) => opener(t, (await startStore(t, { program })).url);
}

const PLACES: readonly { name: string; skip: string | false; place: NewPlace }[] = [
  { name: 'file', skip: false, place: inFile },
  { name: REDIS.name, skip: REDIS.skip, place: inStore(REDIS) },
  { name: VALKEY_IF_NAMED.name, skip: VALKEY_IF_NAMED.skip, place: inStore(VALKEY_IF_NAMED) },
];

for (const { name, skip, place } of PLACES) {
  t.test(name, { skip }, async (t) => {
    t.test('a place without keys is an empty store', async (t) => {
      const { keys } = await (await place(t))();
      t.strictSame(await keys.list(), []);
    });

    t.test('written keys are read back, the oldest first, also by another process', async (t) => {
      const open = await place(t);
      const records = [newRecord('b'), newRecord('a ‘label’ with "quotes" and a \\'), newRecord('c')];
      for (const record of records) await (await open()).keys.insert(record);
      t.strictSame(await (await open()).keys.list(), records);
    });

    t.test('one record is amended, the others stay', async (t) => {
      const { keys } = await (await place(t))();
      const [one, two] = [newRecord('one'), newRecord('two')];
      await keys.insert(one);
      await keys.insert(two);
      const successor = newRecord('successor');
      const { record } = await keys.amend(one.id, (current) => ({ ...revoked(current, 0), successor }));
      t.equal(record.revokedAt, '1970-01-01T00:00:00.000Z');
      t.strictSame(await keys.list(), [record, two, successor]);
    });

    t.test('a change that is refused writes nothing', async (t) => {
      const { keys } = await (await place(t))();
      const record = newRecord();
      await keys.insert(record);
      const refuse = (): never => {
        throw new Error('refused');
      };
      await t.rejects(keys.amend(record.id, refuse), { message: 'refused' });
      await t.rejects(keys.amend('key_x', refuse), { name: 'KeyStoreError', message: /no key "key_x"/ });
      await t.rejects(keys.insert(record), { name: 'KeyStoreError', message: /twice/ });
      await t.rejects(keys.insert({ ...newRecord(), digest: record.digest }), { message: /twice/ });
      await t.rejects(keys.insert({ ...newRecord(), expiresAt: 'soon' }), { message: /expiresAt/ });
      await t.rejects(
        keys.amend(record.id, (current) => ({ record: current, successor: record })),
        { message: /twice/ },
      );
      t.strictSame(await keys.list(), [record]);
    });

    t.test('concurrent writers lose nothing', async (t) => {
      const open = await place(t);
      const names = Array.from({ length: 12 }, (_, index) => `key ${index}`);
      const first = newRecord('first');
      await (await open()).keys.insert(first);
      await Promise.all(
        names.map(async (name) => {
          const { keys } = await open();
          await keys.insert(newRecord(name));
          await keys.amend(first.id, (record) => ({ record: { ...record, label: `${record.label}+` } }));
        }),
      );
      const pluses = '+'.repeat(names.length);
      t.strictSame(labels(await (await open()).keys.list()), [`first${pluses}`, ...names].toSorted());
    });

    t.test('of many that would be first, one is', async (t) => {
      const open = await place(t);
      const firsts = await Promise.all(
        Array.from({ length: 10 }, async () => (await open()).keys.insertFirst(newRecord())),
      );
      t.equal(firsts.filter(Boolean).length, 1);
      t.equal((await (await open()).keys.list()).length, 1);
    });

    t.test('an import adds the missing keys', async (t) => {
      const { keys } = await (await place(t))();
      const [here, one, two] = [newRecord('here'), newRecord('one'), newRecord('two')];
      await keys.insert(here);
      t.equal(await keys.insertMissing([here, one, two]), 2);
      t.equal(await keys.insertMissing([here, one, two]), 0);
      t.strictSame(await keys.list(), [here, one, two]);
    });

    t.test('a watcher learns of each change by any process, until it stops', async (t) => {
      const open = await place(t);
      const { keys } = await open();
      await keys.list();
      const told: string[] = [];
      let seen = 0;
      const stop = keys.watch({
        onChange: ({ records }) => void told.push(labels(records).join()),
        onSeen: () => void seen++,
        onProblem: (error) => void told.push(error.message),
      });
      t.teardown(stop);
      await until(() => seen > 0);
      t.strictSame(told, [], 'nothing changed');
      const other = (await open()).keys;
      const record = newRecord('a');
      await other.insert(record);
      await until(() => told.includes('a'));
      await other.insert(newRecord('b'));
      await until(() => told.includes('a,b'));
      await other.amend(record.id, (current) => ({ record: { ...current, label: 'z' } }));
      await until(() => told.includes('b,z'));
      stop();
      const seenAtStop = seen;
      await other.insert(newRecord('c'));
      // Another watcher hears of it.
      const last: string[] = [];
      t.teardown(
        other.watch({
          onChange: ({ records }) => void last.push(labels(records).join()),
          onSeen: () => undefined,
          onProblem: () => undefined,
        }),
      );
      await other.insert(newRecord('d'));
      await until(() => last.includes('b,c,d,z'));
      t.equal(told.at(-1), 'b,z');
      t.equal(seen, seenAtStop);
    });
  });
}
