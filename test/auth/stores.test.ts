import { spawnSync } from 'node:child_process';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { FileKeyStore } from '#acuity/auth/file/fileStore.js';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import { openStores, storesAt } from '#acuity/auth/location.js';
import type { KeyRecord } from '#acuity/auth/record.js';
import type { KeyStores } from '#acuity/auth/store.js';
import { REDIS, startStore, VALKEY, type StoreProgram } from '../fixtures/redis.js';
import { until } from '../fixtures/until.js';

/** The behaviour of every kind of key store, and that of files. */

let issued = 0;

/** Each a second after the one before. */
function newRecord(label = ''): KeyRecord {
  return issue({ kind: 'demo', label }, Date.UTC(2030) + 1000 * issued++).record;
}

function labels(records: readonly KeyRecord[]): string[] {
  return records.map(({ label }) => label).toSorted();
}

/** What a watcher of a store hears of: the labels of its keys, or a problem; and how often it looked. */
function watched(t: Test, keys: KeyStores['keys']) {
  const told: string[] = [];
  let seen = 0;
  const stop = keys.watch({
    onChange: ({ records }) => void told.push(labels(records).join()),
    onSeen: () => void seen++,
    onProblem: (error) => void told.push(error.message),
  });
  t.teardown(stop);
  return { told, seen: () => seen, stop };
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
  { name: VALKEY.name, skip: VALKEY.skip, place: inStore(VALKEY) },
];

for (const { name, skip, place } of PLACES) {
  t.test(name, { skip }, async (t) => {
    t.test('written keys are read back, the oldest first, also by another process', async (t) => {
      const open = await place(t);
      t.strictSame(await (await open()).keys.list(), [], 'a place without keys is an empty store');
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
      await t.rejects(keys.amend('key_x', refuse), { name: 'KeyStoreError', message: /no key with that id/ });
      await t.rejects(keys.insert(record), { name: 'KeyStoreError', message: /twice/ });
      await t.rejects(keys.insert({ ...newRecord(), digest: record.digest }), { message: /twice/ });
      await t.rejects(keys.insert({ ...newRecord(), expiresAt: 'soon' }), { message: /expiresAt/ });
      const twice = keys.amend(record.id, (current) => ({ record: current, successor: record }));
      await t.rejects(twice, { message: /twice/ });
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
      await keys.read();
      const { told, seen, stop } = watched(t, keys);
      await until(() => seen() > 0);
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
      const seenAtStop = seen();
      await other.insert(newRecord('c'));
      // Another watcher hears of it.
      const last = watched(t, other).told;
      await other.insert(newRecord('d'));
      await until(() => last.includes('b,c,d,z'));
      t.equal(told.at(-1), 'b,z');
      t.equal(seen(), seenAtStop);
    });
  });
}

function fileAt(t: Test, files: Parameters<Test['testdir']>[0] = {}) {
  const folder = t.testdir(files);
  const path = join(folder, 'keys.json');
  return { folder, path, store: new FileKeyStore(path) };
}

t.test('only its owner can read the file, and nothing lies about it', async (t) => {
  const { folder, path, store } = fileAt(t);
  await store.insert(newRecord());
  t.equal((await stat(path)).mode & 0o777, 0o600);
  await chmod(path, 0o644);
  await store.insert(newRecord());
  t.equal((await stat(path)).mode & 0o777, 0o600);
  t.strictSame(await readdir(folder), ['keys.json']);
});

t.test('the file keeps its owner when root writes it', { skip: process.geteuid?.() !== 0 }, async (t) => {
  const { path, store } = fileAt(t);
  await store.insert(newRecord());
  await chown(path, 12_345, 23_456);
  await store.insert(newRecord());
  t.match(await stat(path), { uid: 12_345, gid: 23_456 });
});

t.test(
  'what root writes in a folder of another is its owner’s',
  { skip: process.geteuid?.() !== 0 },
  async (t) => {
    const { folder, path, store } = fileAt(t);
    await chown(folder, 12_345, 23_456);
    await store.insert(newRecord());
    t.match(await stat(path), { uid: 12_345, gid: 23_456 }, 'the first key');
    await chown(path, 0, 0);
    await store.insert(newRecord());
    t.match(await stat(path), { uid: 12_345, gid: 23_456 }, 'a key after root put the file there');
  },
);

t.test('a link to the file stays a link', async (t) => {
  const { folder, path, store } = fileAt(t, { elsewhere: {} });
  const real = new FileKeyStore(join(folder, 'elsewhere', 'real.json'));
  await real.insert(newRecord('a'));
  await symlink('elsewhere/real.json', path);
  await store.insert(newRecord('b'));
  t.ok((await lstat(path)).isSymbolicLink());
  t.strictSame(labels(await real.list()), ['a', 'b']);
});

t.test('an existing store without keys is no place for a first one', async (t) => {
  const { store } = fileAt(t, { 'keys.json': '{"version":1,"keys":[]}' });
  t.equal(await store.insertFirst(newRecord()), false);
});

t.test('a damaged file is refused, and never written over', async (t) => {
  const record = newRecord('a-label-not-to-be-quoted');
  const version1 = (...keys: readonly object[]): string => JSON.stringify({ version: 1, keys });
  for (const [name, text] of Object.entries({
    empty: '',
    truncated: version1(record).slice(0, -20),
    'of another version': JSON.stringify({ version: 2, keys: [] }),
    'something else': '[]',
    'with a record that lacks a field': version1({ ...record, digest: undefined }),
    'with a digest that is none': version1({ ...record, digest: 'abc' }),
    'with a rate of zero': version1({ ...record, ratePerS: 0 }),
    'with an end that is no date': version1({ ...record, expiresAt: '2025-13-01T00:00:00Z' }),
    'with a day that no month has': version1({ ...record, expiresAt: '2025-02-30T00:00:00Z' }),
    'with a key twice': version1(record, record),
  })) {
    const { path, store } = fileAt(t, { 'keys.json': text });
    const message = /keys\.json is not a key store of version 1: (?!.*label-not)/;
    for (const call of ['list', 'insert', 'insertFirst'] as const)
      await t.rejects(async () => store[call](newRecord()), { name: 'KeyStoreError', message }, name);
    t.equal(await readFile(path, 'utf8'), text, name);
  }
});

t.test('what can’t be read or written is told in one line; a pipe is not waited for', async (t) => {
  const { folder, path, store } = fileAt(t, { file: '' });
  const below = new FileKeyStore(join(folder, 'file', 'keys.json'));
  spawnSync('mkfifo', [path]);
  const pipe = /keys\.json: it is not a regular file$/;
  const cases: readonly (readonly [call: () => Promise<unknown>, message: RegExp])[] = [
    [() => store.list(), pipe],
    [() => store.insert(newRecord()), pipe],
    [() => below.list(), /^can't read .*keys\.json: not a directory \(ENOTDIR\)$/],
    [() => below.insert(newRecord()), /^can't write .*: not a directory \(ENOTDIR\)$/],
    [() => new FileKeyStore('/proc/none/keys.json').insert(newRecord()), /^can't write .* \(ENOENT\)$/],
  ];
  for (const [call, message] of cases) await t.rejects(call, { name: 'KeyStoreError', message });
});

t.test('file://PATH leads to a file too', async (t) => {
  const { folder } = fileAt(t);
  await storesAt(`file://${join(folder, 'keys.json')}`).keys.insert(newRecord());
  t.strictSame(await readdir(folder), ['keys.json']);
});

t.test('other locations are refused without being quoted', async (t) => {
  for (const location of ['', 'keys.json', 'file:', 'file://host/keys.json', 'http://secret', 'redis:secret'])
    t.throws(() => storesAt(location), { name: 'KeyStoreError', message: /^(?!.*secret)/ }, location);
  for (const location of ['redis://u:secret@[h', 'rediss://:secret@h:port/', 'redis://secret@h/x'])
    await t.rejects(openStores(location), { name: 'KeyStoreError', message: /^(?!.*secret)/ }, location);
});

/** Up to the rename the old store stands, from then on the new one. */
const crashes = [
  { moment: 'after', operation: 'symlink', isWritten: false },
  { moment: 'before', operation: 'openSync', isWritten: false },
  { moment: 'after', operation: 'openSync', isWritten: false },
  { moment: 'before', operation: 'renameSync', isWritten: false },
  { moment: 'after', operation: 'renameSync', isWritten: true },
  { moment: 'before', operation: 'unlink', isWritten: true },
];
for (const { moment, operation, isWritten } of crashes) {
  t.test(`a crash ${moment} ${operation} leaves a whole store and no lock that blocks others`, async (t) => {
    const { folder, path, store } = fileAt(t);
    await store.insert(newRecord('before'));
    const script = fileURLToPath(new URL('./crash.js', import.meta.url));
    const { signal } = spawnSync(process.execPath, [script, path, moment, operation]);
    t.equal(signal, 'SIGKILL');

    const survivors = isWritten ? ['before', 'crashed'] : ['before'];
    t.strictSame(labels(await store.list()), survivors);
    await Promise.all([store.insert(newRecord('next')), store.insert(newRecord('next'))]);
    t.strictSame(labels(await store.list()), [...survivors, 'next', 'next']);
    t.strictSame(await readdir(folder), ['keys.json']);
  });
}

t.test('a change between the reading and the watching is not missed', async (t) => {
  const { path, store } = fileAt(t);
  await store.read();
  await new FileKeyStore(path).insert(newRecord('a'));
  const { told } = watched(t, store);
  await until(() => told.length > 0);
  t.strictSame(told, ['a']);
});

t.test('a change of the file is learnt from the system, without waiting for the next poll', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] }); // no poll comes
  t.teardown(() => mock.timers.reset());
  const { keys } = await (await inFile(t))();
  await keys.insert(newRecord('one'));
  const { told } = watched(t, keys);
  await until(() => told.length > 0);
  await keys.insert(newRecord('two'));
  await until(() => told.at(-1) === 'one,two');
});

t.test('a file that others write in place is read once it is whole', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const { path, store } = fileAt(t);
  await store.insert(newRecord('a'));
  const { told } = watched(t, store);
  await until(() => told.length > 0);
  const text = (await readFile(path, 'utf8')).replace('"label": "a"', '"label": "b"');
  for (const written of ['', text.slice(0, -9), text]) await writeFile(path, written);
  await until(() => told.length > 1);
  t.strictSame(told, ['a', 'b']);
});

t.test('a watcher hears once of a damaged or lost file, and again when it is whole', async (t) => {
  const { folder, path, store } = fileAt(t);
  await store.insert(newRecord('a'));
  await store.read();
  const { told } = watched(t, store);
  const next = async (): Promise<string> => {
    await until(() => told.length > 0);
    return told.shift() ?? '';
  };
  await rename(path, join(folder, 'aside'));
  t.match(await next(), /keys\.json is gone/);
  await writeFile(path, 'nonsense');
  t.match(await next(), /it is not JSON/);
  await rename(join(folder, 'aside'), path);
  t.equal(await next(), 'a');
  await mkdir(join(folder, 'other'));
  await rename(path, join(folder, 'aside'));
  await rename(join(folder, 'other'), path);
  let last = await next();
  if (/is gone/.test(last)) last = await next(); // a look between the two
  t.match(last, /it is not a regular file/);
});
