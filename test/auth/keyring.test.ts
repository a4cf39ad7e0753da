import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { KeyCheck } from '../fixtures/keyCheck.js';
import type { IndexedRecord } from '#acuity/auth/authenticator.js';
import { openKeyring, type KeyringOptions } from '#acuity/auth/keyring.js';
import { issue, revoked, type KeyOrder } from '#acuity/auth/lifecycle.js';
import { Limits } from '#acuity/auth/limits/limits.js';
import { FileCounts, UsageFiles } from '#acuity/auth/file/fileCounts.js';
import { FileKeyStore } from '#acuity/auth/file/fileStore.js';
import type { KeyRecord } from '#acuity/auth/record.js';
import type { DailyUsage, KeyStoreWatcher, StoredKeys } from '#acuity/auth/store.js';
import { manualClock } from '../fixtures/manualClock.js';

const DAY_MS = 86_400_000;
const NOON_MS = 20_000 * DAY_MS + DAY_MS / 2;
const DEMO: KeyOrder = { kind: 'demo', ratePerS: null, dailyMax: 5 };

type UsageStore = Pick<UsageFiles, 'read' | 'write' | 'days'>;

interface Parts {
  readonly keys: KeyringOptions['store'];
  readonly usage?: UsageStore;
  readonly keysMax?: number;
}

async function start({ keys, usage = memoryUsage(), keysMax = 8 }: Parts) {
  const limits = new Limits(Limits.allocate(keysMax));
  const clock = manualClock(NOON_MS);
  const keyCheck = new KeyCheck({ clock, limits });
  const problems: string[] = [];
  const keyring = await openKeyring({
    store: keys,
    ledger: (parts) => new FileCounts(parts, usage),
    limits,
    clock,
    onRecords: (records) => keyCheck.replace(records),
    onProblem: ({ message }) => void problems.push(message),
  });
  return { keyCheck, keyring, problems };
}

/** Sends `attempts` requests with a key. How many were admitted. */
function admitted(keyCheck: KeyCheck, key: string, attempts: number): number {
  const outcomes = Array.from({ length: attempts }, () => keyCheck.check(key).outcome);
  return outcomes.filter((outcome) => outcome === 'admitted').length;
}

/** As `file:` has them. */
function storedIn(folder: string): { keys: FileKeyStore; usage: UsageFiles } {
  return {
    keys: new FileKeyStore(join(folder, 'keys.json')),
    usage: new UsageFiles(join(folder, 'keys.usage.json')),
  };
}

/** Keys in memory, of which their watcher hears when the test says so. */
function storeOf(records: KeyRecord[]): KeyringOptions['store'] & { tell(): void } {
  const stored = (): StoredKeys => ({ records: [...records], unreadable: [] });
  let watcher: KeyStoreWatcher | undefined;
  return {
    read: async () => stored(),
    watch(given) {
      watcher = given;
      return () => (watcher = undefined);
    },
    tell: () => watcher?.onChange(stored()),
  };
}

function memoryUsage(): UsageStore {
  let saved: readonly DailyUsage[] = [];
  return {
    read: async () => saved,
    days: async () => [],
    write: async (days) => void (saved = structuredClone(days)),
  };
}

t.test('the usage file is the owner’s alone and holds counts by id', async (t) => {
  const folder = t.testdir();
  const { keys, usage } = storedIn(folder);
  const { record, key } = issue(DEMO, NOON_MS);
  await keys.insert(record);
  const { keyCheck, keyring, problems } = await start({ keys, usage });
  admitted(keyCheck, key, 2);
  await keyring.close();
  t.strictSame(problems, []);
  const path = join(folder, 'keys.usage.json');
  const days = [{ day: 20_000, used: { [record.id]: 2 } }];
  t.strictSame(JSON.parse(await readFile(path, 'utf8')), { version: 1, days });
  t.equal((await stat(path)).mode & 0o777, 0o600);
});

t.test('a damaged usage file stops the start and is left alone', async (t) => {
  const folder = t.testdir();
  const { keys, usage } = storedIn(folder);
  const path = join(folder, 'keys.usage.json');
  for (const text of ['', '{"version":1,"days":[{"day":20000,"used":{"key_a":-1}}]}']) {
    await writeFile(path, text);
    const message = /keys\.usage\.json is damaged, or of another version: delete it/;
    await t.rejects(start({ keys, usage }), { name: 'KeyStoreError', message });
    t.equal(await readFile(path, 'utf8'), text);
  }
});

t.test('counts that can’t be written are reported, and written as soon as possible', async (t) => {
  const usage = memoryUsage();
  const { record, key } = issue(DEMO, NOON_MS);
  let isBroken = true;
  const flaky: UsageStore = {
    ...usage,
    write: (days) => (isBroken ? Promise.reject(new Error('disk full')) : usage.write(days)),
  };
  const { keyCheck, keyring, problems } = await start({ keys: storeOf([record]), usage: flaky });
  admitted(keyCheck, key, 1);
  await keyring.close();
  t.strictSame(problems, ['disk full'], 'once, though it was tried twice');
  isBroken = false;
  await keyring.close();
  t.match(await usage.read(), [{ used: { [record.id]: 1 } }]);
});

t.test('keys issued and revoked while it runs are known at once when the store tells', async (t) => {
  const records: KeyRecord[] = [];
  const keys = storeOf(records);
  const { keyCheck, keyring } = await start({ keys });
  const { record, key } = issue(DEMO, NOON_MS);
  t.equal(keyCheck.check(key).outcome, 'invalid');
  records.push(record);
  keys.tell();
  t.equal(keyCheck.check(key).outcome, 'admitted');
  records[0] = revoked(record, NOON_MS).record;
  keys.tell();
  t.equal(keyCheck.check(key).outcome, 'invalid');
  await keyring.close();
  records[0] = record;
  keys.tell();
  t.equal(keyCheck.check(key).outcome, 'invalid', 'it no longer listens');
});

t.test('a key keeps its keyIndex and its counts while other keys change', async (t) => {
  const made = [issue(DEMO, NOON_MS), issue(DEMO, NOON_MS), issue(DEMO, NOON_MS)];
  const [one, two, three] = made as [(typeof made)[0], (typeof made)[0], (typeof made)[0]];
  const records = [one.record, two.record];
  const keys = storeOf(records);
  const { keyCheck, keyring } = await start({ keys });
  t.equal(admitted(keyCheck, two.key, 10), 5);
  records.splice(0, 1, three.record);
  keys.tell();
  t.equal(admitted(keyCheck, two.key, 10), 0);
  t.equal(admitted(keyCheck, three.key, 10), 5);
  await keyring.close();
});

t.test('more keys than keyIndexes stop the start', async (t) => {
  const keys = storeOf([1, 2].map(() => issue({ kind: 'demo' }, NOON_MS).record));
  await t.rejects(start({ keys, keysMax: 1 }), { name: 'KeyStoreError', message: /no room/ });
});

t.test('a key without room is refused and told, and no revocation waits for it', async (t) => {
  const [old, late] = [issue(DEMO, NOON_MS), issue(DEMO, NOON_MS)];
  const records = [old.record];
  const keys = storeOf(records);
  const { keyCheck, keyring, problems } = await start({ keys, keysMax: 1 });
  t.equal(admitted(keyCheck, old.key, 1), 1);
  records.splice(0, 1, revoked(old.record, NOON_MS).record, late.record);
  for (let turn = 0; turn < 2; turn++) keys.tell();
  t.equal(admitted(keyCheck, old.key, 1) + admitted(keyCheck, late.key, 1), 0);
  t.match(problems, [/^no room for more than 1 keys, .*restart this process$/]);
  t.equal(problems.length, 1);
  await keyring.close();
});

const KEYS = [0, 1].map((keyIndex): IndexedRecord => {
  const { record } = issue(DEMO, NOON_MS);
  return { ...record, keyIndex, usableUntilMs: Infinity };
});
const [BUSY, IDLE] = KEYS as [IndexedRecord, IndexedRecord];

/** The counts of a server whose clock a test sets. */
function counting(path: string, clock: { nowMs(): number }) {
  const limits = new Limits(Limits.allocate(KEYS.length));
  const store = new UsageFiles(path);
  const parts = { limits, clock: { ...clock, monotonicMs: () => 0 }, keys: KEYS };
  return { limits, store, usage: new FileCounts(parts, store) };
}

function taken(limits: Limits, { keyIndex, ...key }: IndexedRecord, attempts: number, nowMs: number): number {
  return Array.from({ length: attempts }, () => limits.take(keyIndex, key, nowMs)).filter((day) => day >= 0)
    .length;
}

for (const [what, saves, restarts] of [
  ['between two saves', [], []],
  ['with a save each time', ['today', 'ahead', 'back'], []],
  ['with a restart before', [], ['today']],
  ['with a start ahead', [], ['today', 'ahead at first']],
  ['with a restart once it is back', ['today'], ['back']],
] as const) {
  t.test(`a clock set two days forth and back gives no second quota: ${what}`, async (t) => {
    const path = join(t.testdir(), 'keys.usage.json');
    let nowMs = NOON_MS;
    const start = async () => {
      const started = counting(path, { nowMs: () => nowMs });
      await started.usage.restore();
      return started;
    };
    let server = await start();
    const at = async (moment: string): Promise<void> => {
      if ((saves as readonly string[]).includes(moment)) await server.usage.save();
      if (!(restarts as readonly string[]).includes(moment)) return;
      await server.usage.close();
      server = await start();
    };
    t.equal(taken(server.limits, BUSY, 3, nowMs) + taken(server.limits, IDLE, 5, nowMs), 8);
    await at('today');
    nowMs += 2 * DAY_MS;
    await at('ahead at first');
    t.equal(taken(server.limits, BUSY, 4, nowMs), 4);
    await at('ahead');
    nowMs -= 2 * DAY_MS;
    await at('back');
    t.equal(taken(server.limits, BUSY, 9, nowMs), 2);
    t.equal(taken(server.limits, IDLE, 9, nowMs), 0);
    await server.usage.close();

    server = await start();
    t.equal(taken(server.limits, BUSY, 9, nowMs) + taken(server.limits, IDLE, 9, nowMs), 0);
    t.strictSame(await server.store.days(19_999, 20_003), [
      { day: 20_000, used: { [BUSY.id]: 5, [IDLE.id]: 5 } },
      { day: 20_002, used: { [BUSY.id]: 4 } },
    ]);
  });
}

t.test('a clock that saw two other days gives no second quota to a start once it is back', async (t) => {
  const path = join(t.testdir(), 'keys.usage.json');
  const admitted: number[] = [];
  for (const days of [0, 5, 10, 0]) {
    const nowMs = NOON_MS + days * DAY_MS;
    const { limits, usage } = counting(path, { nowMs: () => nowMs });
    await usage.restore();
    admitted.push(taken(limits, BUSY, 9, nowMs));
    await usage.close();
  }
  t.strictSame(admitted, [5, 5, 5, 0]);
});

t.test('a key that comes back after days leaves the counts of its last day as they are', async (t) => {
  let nowMs = NOON_MS;
  const path = join(t.testdir(), 'keys.usage.json');
  const { limits, store, usage } = counting(path, { nowMs: () => nowMs });
  // The clock was ahead, once.
  taken(limits, BUSY, 1, nowMs + 365 * DAY_MS);
  await usage.save();
  taken(limits, IDLE, 2, nowMs);
  for (let day = 0; day < 6; day++) {
    taken(limits, BUSY, 1, nowMs);
    await usage.save();
    nowMs += DAY_MS;
  }
  taken(limits, IDLE, 1, nowMs);
  await usage.close();
  const counted = (await store.days(20_000, 20_006)).map(({ used }) => used);
  const busy = { [BUSY.id]: 1 };
  t.strictSame(counted, [{ [IDLE.id]: 2, ...busy }, busy, busy, busy, busy, busy, { [IDLE.id]: 1 }]);
});
