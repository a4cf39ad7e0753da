import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { KeyCheck } from '../fixtures/keyCheck.js';
import { openKeyring, type Keyring } from '#acuity/auth/keyring.js';
import { issue, revoked, type KeyOrder } from '#acuity/auth/lifecycle.js';
import { allocateLimits, Limits } from '#acuity/auth/limits.js';
import { FileCounts, UsageFiles } from '#acuity/auth/fileCounts.js';
import { FileKeyStore } from '#acuity/auth/fileStore.js';
import type { KeyRecord } from '#acuity/auth/record.js';
import { KeyStore, type DailyUsage, type KeyStoreWatcher, type StoredKeys } from '#acuity/auth/store.js';
import { manualClock, type ManualClock } from '../fixtures/manualClock.js';

const DAY_MS = 86_400_000;
const NOON_MS = 20_000 * DAY_MS + DAY_MS / 2;
const DEMO: KeyOrder = { kind: 'demo', ratePerS: null, dailyMax: 5 };

interface Server {
  readonly keyCheck: KeyCheck;
  readonly keyring: Keyring;
  readonly limits: Limits;
}

type UsageStore = Pick<UsageFiles, 'read' | 'write'>;

interface Parts {
  readonly keys: KeyStore;
  readonly usage: UsageStore;
  readonly clock?: ManualClock;
  readonly keysMax?: number;
  onProblem?(error: Error): void;
}

async function start({
  keys,
  usage,
  clock = manualClock(NOON_MS),
  keysMax = 8,
  ...rest
}: Parts): Promise<Server> {
  const limits = new Limits(allocateLimits(keysMax));
  const keyCheck = new KeyCheck({ clock, limits });
  const onProblem =
    rest.onProblem ??
    ((error: Error): never => {
      throw error;
    });
  const keyring = await openKeyring({
    store: keys,
    ledger: (parts) => new FileCounts(parts, usage),
    limits,
    clock,
    onRecords: (records) => keyCheck.replace(records),
    onProblem,
  });
  return { keyCheck, keyring, limits };
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

/** A store in memory that tells its watcher when the test says so. */
class MemoryStore extends KeyStore {
  private watcher: KeyStoreWatcher | undefined;

  constructor(readonly records: KeyRecord[]) {
    super();
  }

  async read(): Promise<StoredKeys> {
    return { records: [...this.records], unreadable: [] };
  }

  watch(given: KeyStoreWatcher): () => void {
    this.watcher = given;
    return () => (this.watcher = undefined);
  }

  tell(): void {
    this.watcher?.onChange({ records: [...this.records], unreadable: [] });
  }

  protected update(): Promise<boolean> {
    throw new Error('not used here');
  }
}

function memoryUsage(): UsageStore {
  let saved: DailyUsage[] = [];
  return {
    read: async () => saved,
    async write(usage) {
      saved = [structuredClone(usage)];
    },
  };
}

t.test('the daily quota survives a restart', async (t) => {
  const { keys, usage } = storedIn(t.testdir());
  const { record, key } = issue(DEMO, NOON_MS);
  await keys.insert(record);

  const first = await start({ keys, usage });
  t.equal(admitted(first.keyCheck, key, 3), 3);
  await first.keyring.close();

  const second = await start({ keys, usage });
  t.equal(admitted(second.keyCheck, key, 10), 2);
  await second.keyring.close();

  const tomorrow = await start({ keys, usage, clock: manualClock(NOON_MS + DAY_MS) });
  t.equal(admitted(tomorrow.keyCheck, key, 10), 5);
  await tomorrow.keyring.close();
});

t.test('the usage file is the owner’s alone and holds counts by id', async (t) => {
  const folder = t.testdir();
  const { keys, usage } = storedIn(folder);
  const { record, key } = issue(DEMO, NOON_MS);
  await keys.insert(record);
  const { keyCheck, keyring } = await start({ keys, usage });
  admitted(keyCheck, key, 2);
  await keyring.close();
  const path = join(folder, 'keys.usage.json');
  t.strictSame(JSON.parse(await readFile(path, 'utf8')), {
    version: 1,
    day: 20_000,
    used: { [record.id]: 2 },
  });
  t.equal((await stat(path)).mode & 0o777, 0o600);
});

t.test('a damaged usage file stops the start and is left alone', async (t) => {
  const folder = t.testdir();
  const { keys, usage } = storedIn(folder);
  const path = join(folder, 'keys.usage.json');
  for (const text of ['', '{"version":1,"day":20000,"used":{"key_a":-1}}']) {
    await writeFile(path, text);
    await t.rejects(start({ keys, usage }), {
      name: 'KeyStoreError',
      message: /keys\.usage\.json is damaged/,
    });
    t.equal(await readFile(path, 'utf8'), text);
  }
});

t.test('counts that can’t be written are reported, and written as soon as possible', async (t) => {
  const problems: string[] = [];
  const usage = memoryUsage();
  const { record, key } = issue(DEMO, NOON_MS);
  const keys = new MemoryStore([record]);
  let isBroken = true;
  const flaky: UsageStore = {
    read: (day) => usage.read(day),
    write: (counts) => (isBroken ? Promise.reject(new Error('disk full')) : usage.write(counts)),
  };
  const onProblem = (error: Error): void => void problems.push(error.message);
  const { keyCheck, keyring } = await start({ keys, usage: flaky, onProblem });
  admitted(keyCheck, key, 1);
  await keyring.close();
  t.strictSame(problems, ['disk full'], 'once, though it was tried twice');
  isBroken = false;
  await keyring.close();
  t.match(await usage.read(20_000), [{ used: { [record.id]: 1 } }]);
});

t.test('keys issued and revoked while it runs are known at once when the store tells', async (t) => {
  const records: KeyRecord[] = [];
  const keys = new MemoryStore(records);
  const { keyCheck, keyring } = await start({ keys, usage: memoryUsage() });
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
  const keys = new MemoryStore(records);
  const { keyCheck, keyring } = await start({ keys, usage: memoryUsage() });
  t.equal(admitted(keyCheck, two.key, 10), 5);
  records.splice(0, 1, three.record);
  keys.tell();
  t.equal(admitted(keyCheck, two.key, 10), 0);
  t.equal(admitted(keyCheck, three.key, 10), 5);
  await keyring.close();
});

t.test('more keys than keyIndexes stop the start', async (t) => {
  const records = [1, 2].map(() => issue({ kind: 'demo' }, NOON_MS).record);
  await t.rejects(start({ keys: new MemoryStore(records), usage: memoryUsage(), keysMax: 1 }), {
    name: 'KeyStoreError',
    message: /no room/,
  });
});
