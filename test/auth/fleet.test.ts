import t from 'tap';
import type { IndexedRecord } from '#acuity/auth/authenticator.js';
import { Limits, type KeyLimits } from '#acuity/auth/limits/limits.js';
import { dayAt } from '#acuity/base/days.js';
import { KeyStoreError } from '#acuity/auth/record.js';
import { issue } from '#acuity/auth/lifecycle.js';
import { RedisCounts } from '#acuity/auth/redis/redisCounts.js';
import { RedisKeyStore } from '#acuity/auth/redis/redisKeys.js';
import { countsKey, usageKey, type Commands } from '#acuity/auth/redis/redisNames.js';
import { MemoryStore } from '../faults/simulation/store.js';

/** What docs/FLEET.md promises of rates, quotas and counts, at a store in memory; redis.test.ts has what takes a real one. */

const DAY_MS = 86_400_000;
const NOON_MS = 20_000 * DAY_MS + DAY_MS / 2;

type Replica = Awaited<ReturnType<Fleet['start']>>;

/** Replicas on one clock, with one key. */
class Fleet {
  ms = NOON_MS;
  readonly store = new MemoryStore(
    () => this.ms,
    () => undefined,
  );
  readonly replicas: Replica[] = [];
  readonly #key: IndexedRecord;

  constructor(limits: KeyLimits) {
    this.#key = { id: 'key_1', kind: 'live', digest: '', usableUntilMs: Infinity, keyIndex: 0, ...limits };
  }

  /** So many, which have heard of one another. */
  static async of(count: number, limits: KeyLimits): Promise<Fleet> {
    const fleet = new Fleet(limits);
    for (let started = 0; started < count; started++) fleet.replicas.push(await fleet.start());
    await fleet.pass(600);
    return fleet;
  }

  async start() {
    const limits = new Limits(Limits.allocate(1));
    const line = { isCut: false };
    const sendAll = async (commands: readonly (readonly string[])[]): Promise<readonly unknown[]> => {
      if (line.isCut) throw new KeyStoreError('cut off');
      return commands.map((words) => this.store.send(words));
    };
    const clock = { nowMs: () => this.ms, monotonicMs: () => this.ms };
    const transport = {
      connections: 1,
      refusal: undefined,
      sendAll,
      readAll: sendAll,
      close: () => undefined,
    };
    const counts = new RedisCounts({ limits, clock, keys: [this.#key] }, transport, () => '');
    await counts.restore();
    return { line, counts, ask: (): boolean => limits.take(0, this.#key, this.ms) >= 0 };
  }

  /** Time passes; meanwhile all report again and again. */
  async pass(ms: number, among = this.replicas): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      this.ms += 100;
      for (const { counts } of among) await counts.save().catch(() => undefined);
    }
  }

  /** So many requests, turn by turn. How many are admitted. */
  ask(count: number, among = this.replicas): number {
    return Array.from({ length: count }, (_, at) => among[at % among.length]?.ask()).filter(Boolean).length;
  }

  /** What `acuity keys usage` shows of a day. */
  usage(day = dayAt(this.ms)): number {
    return Number(this.store.send(['HGET', usageKey(day), 'key_1']) ?? 0);
  }

  cut(isCut: boolean): void {
    for (const { line } of this.replicas) line.isCut = isCut;
  }
}

for (const [name, perTurn, users] of [
  ['spread over all', 15, 3],
  ['all at one', 5, 1],
] as const)
  t.test(`a day’s quota of 1,000 over three replicas, ${name} at 50/s each: 1,000 to 1,010`, async (t) => {
    const QUOTA = 1000;
    const fleet = await Fleet.of(3, { ratePerS: null, dailyMax: QUOTA });
    let admitted = 0;
    for (let turn = 0; turn < (1.2 * QUOTA) / perTurn; turn++) {
      admitted += fleet.ask(perTurn, fleet.replicas.slice(0, users));
      await fleet.pass(100);
    }
    t.ok(admitted >= QUOTA && admitted <= QUOTA + 10, `${admitted} of ${QUOTA}`);
    t.equal(fleet.usage(), admitted);
    for (const { counts } of fleet.replicas) await counts.close();
    t.notOk((await fleet.start()).ask(), 'a new one knows what is used');
  });

t.test('a replica that was quiet writes no sum with what it once knew of the others', async (t) => {
  const fleet = await Fleet.of(2, { ratePerS: 40, dailyMax: 30 });
  const [busy, quiet] = fleet.replicas as [Replica, Replica];
  t.ok(quiet.ask());
  await fleet.pass(1500);
  for (let turn = 0; turn < 10; turn++) {
    fleet.ask(5, [busy]);
    await fleet.pass(500);
  }
  t.equal(fleet.usage(), 30);
  t.notOk(quiet.ask());
  await quiet.counts.save();
  t.equal(fleet.usage(), 30);
});

for (const stray of ['Infinity Infinity', '1e300 1e300', '1.5 1.5', 'x'])
  t.test(`a stray count in the store counts nothing: ${stray}`, async (t) => {
    const fleet = await Fleet.of(2, { ratePerS: 40, dailyMax: 30 });
    const day = dayAt(fleet.ms);
    fleet.store.send(['HSET', countsKey(day, 'key_1'), 'stray', stray]);
    fleet.store.send(['HSET', usageKey(day), 'key_1', stray]);
    await fleet.pass(1500);
    let answered = 0;
    for (let turn = 0; turn < 20; turn++) {
      answered += fleet.ask(4);
      await fleet.pass(500);
    }
    t.equal(answered, 30);
    t.equal(fleet.usage(), 30);
  });

t.test('a key that comes back after days leaves the sums of its last day as they are', async (t) => {
  const fleet = await Fleet.of(2, { ratePerS: null, dailyMax: null });
  t.equal(fleet.ask(6), 6);
  await fleet.pass(1500);
  // What the replicas counted has expired by then. Twice, so that one of them is long enough after midnight.
  for (let turn = 0; turn < 2; turn++) {
    fleet.ms += 4 * DAY_MS + 20_000;
    await fleet.pass(300);
  }
  fleet.ask(1);
  await fleet.pass(300);
  t.strictSame([fleet.usage(20_000), fleet.usage()], [6, 1]);
});

t.test('a rate holds over all of them', async (t) => {
  const RATE = 100;
  const fleet = await Fleet.of(3, { ratePerS: RATE, dailyMax: null });
  let admitted = 0;
  for (let turn = 0; turn < 60; turn++) {
    admitted += fleet.ask(RATE);
    await fleet.pass(100);
  }
  const allowed = RATE * (2 + 6);
  // The last burst may still have to be paid.
  t.ok(admitted <= 1.15 * allowed && admitted > 0.95 * allowed, `${admitted} of ${allowed}`);
});

t.test('without the store each replica goes on at the key’s rate; nothing is lost, nor owed', async (t) => {
  const RATE = 50;
  const fleet = await Fleet.of(2, { ratePerS: RATE, dailyMax: null });
  const [first] = fleet.replicas as [Replica];
  fleet.cut(true);
  let admitted = 0;
  for (let turn = 0; turn < 15; turn++) {
    admitted += fleet.ask(RATE, [first]);
    await fleet.pass(100);
  }
  t.ok(admitted <= RATE * (2 + 1.5) + 1, `${admitted} in 1.5 s`);
  t.ok(fleet.replicas.every(({ counts }) => counts.isLocal));
  for (let second = 0; second < 120; second++) {
    fleet.ms += 1000;
    const now = fleet.ask(2 * RATE);
    admitted += now;
    if (second > 0) t.equal(now, 2 * RATE, 'both at the rate');
  }
  fleet.cut(false);
  await fleet.pass(300);
  t.ok(fleet.replicas.every(({ counts }) => !counts.isLocal));
  t.equal(fleet.usage(), admitted);
  await fleet.pass(10_000);
  t.ok(fleet.replicas.every((replica) => replica.ask()));
});

const QUOTA = 100;
const DAILY = { ratePerS: null, dailyMax: QUOTA };

t.test('one replica that is cut off answers its share of the quota beside it', async (t) => {
  const fleet = await Fleet.of(2, DAILY);
  const [cut, other] = fleet.replicas as [Replica, Replica];
  cut.line.isCut = true;
  let admitted = fleet.ask(QUOTA, [cut]);
  t.equal(admitted, QUOTA / 2);
  for (let turn = 0; turn < 80; turn++) {
    admitted += fleet.ask(5, [other]);
    await fleet.pass(100, [other]);
  }
  t.equal(admitted, 1.5 * QUOTA, '1 + 1/N of the quota');
});

t.test('a store that was emptied or set back has the counts again within a second, each once', async (t) => {
  for (const isEmptied of [true, false]) {
    const fleet = await Fleet.of(2, DAILY);
    const old = isEmptied ? new Map() : fleet.store.snapshot();
    const admitted = fleet.ask(40);
    await fleet.pass(1500); // nothing is reported of the key any more
    t.equal(fleet.usage(), admitted);
    fleet.store.restore(old);
    await fleet.pass(1000);
    t.equal(fleet.usage(), admitted);
  }
});

t.test(
  'keys are read in pieces: each before the next is asked for, so that requests come between',
  async (t) => {
    const records = [1, 2, 3].map(() => issue({ kind: 'live' }, NOON_MS).record);
    const { args: parsed } = t.capture(JSON, 'parse', JSON.parse);
    const readBefore: number[] = [];
    const readAll = async ([words = []]: Commands): Promise<readonly unknown[]> => {
      const [command, , cursor] = words;
      if (command === 'GET') return ['token'];
      const [record] = records.slice(readBefore.length);
      readBefore.push(parsed().length);
      return [[record === records.at(-1) ? '0' : `${cursor}1`, [record?.id, JSON.stringify(record)]]];
    };
    const close = (): void => undefined;
    const transport = { connections: 1, refusal: undefined, sendAll: readAll, readAll, close };
    const keys = await new RedisKeyStore(transport, () => transport).read();
    t.equal(keys.records.length, 3);
    t.strictSame(readBefore, [0, 1, 1]);
  },
);
