import t from 'tap';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import { dayOf } from '#acuity/auth/limits.js';
import { RedisConnection } from '#acuity/auth/redisConnection.js';
import { KEYS, leasesKey, LOOK, replicaKey, REPORT, usageKey, WRITE } from '#acuity/auth/redisScripts.js';
import { below, pick, seededRandom } from '#acuity/base/random.js';
import { MemoryStore } from '#simulation/store.js';
import { compile } from '#simulation/lua.js';
import { REDIS, startStore } from '../fixtures/redis.js';

const STEPS = 600;
/** The time comes with what is asked, that both stores have the same. */
const REPORT_AT = REPORT.replace("redis.call('TIME')", '{ARGV[#ARGV - 1], ARGV[#ARGV]}');
const REPLICAS = ['one', 'two', 'three'];
const IDS = ['a', 'b', 'c', 'd'];

t.test('the simulated store answers the service’s scripts as Redis does', { skip: REDIS.skip }, async (t) => {
  const redis = await startStore(t);
  const connection = new RedisConnection({ url: redis.url });
  t.teardown(() => connection.close());
  const random = seededRandom(1);
  let nowMs = Date.now();
  const memory = new MemoryStore({ nowMs: () => nowMs, onPublished: () => undefined });
  const day = dayOf(nowMs);
  const numbers = new Map<string, number>();
  let [name, version, token] = ['', '0', ''];
  const issued: { readonly id: string; text: string }[] = [];

  const both = async (script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> => {
    const [real, simulated] = [await connection.run(script, keys, args), memory.run(script, keys, args)];
    t.same(simulated, real, `${args.join(' ')}`.slice(0, 200));
    return real;
  };
  const write = (order: object): Promise<unknown> =>
    both(
      WRITE,
      [KEYS.meta, KEYS.keys, KEYS.digests, KEYS.changed, KEYS.tokens],
      [JSON.stringify({ store: 'store', token: `t${random()}`, channel: 'changes', add: [], ...order })],
    );
  const changeKeys = async (): Promise<unknown> => {
    const known = issued.length > 0 && random() < 0.5 ? pick(random, issued) : undefined;
    if (known === undefined) {
      const { record } = issue({ kind: 'live' }, nowMs);
      const { id, digest } = record;
      issued.push({ id, text: `${issued.length + 1} ${JSON.stringify(record)}` });
      return write({ add: [{ id, digest, text: JSON.stringify(record) }], isFirst: issued.length === 1 });
    }
    const [order = '', json = ''] = /^(\d+) (.*)$/.exec(known.text)?.slice(1) ?? [];
    const now = `${order} ${JSON.stringify(revoked(JSON.parse(json) as never, nowMs).record)}`;
    const was = random() < 0.8 ? known.text : 'something else';
    const answer = await write({ replace: { id: known.id, was, now } });
    if (answer === 0) known.text = now;
    return answer;
  };
  const look = async (): Promise<void> => {
    const known = random() < 0.9 ? [name, version, token] : [name, '1', 'elsewhere'];
    const answer = (await both(LOOK, [KEYS.meta, KEYS.keys, KEYS.changed, KEYS.tokens], known)) as string[];
    [name = '', version = '', token = ''] = answer;
  };
  const report = async (): Promise<void> => {
    const replica = pick(random, REPLICAS);
    const number = (numbers.get(replica) ?? 0) + pick(random, [0, 1, 1, 1, 1, 2]);
    numbers.set(replica, number);
    const keys = IDS.filter(() => random() < 0.5).map((id) => ({
      id,
      day: below(random, 2),
      count: below(random, 5) - 1,
      known: below(random, 40),
      isBack: random() < 0.2,
      held: below(random, 20),
      tokens: 5 * random(),
      spent: 10 * random(),
      ratePerS: pick(random, [0, 3]),
      dailyMax: pick(random, [0, 10, 61]),
    }));
    const flags = { isAgain: random() < 0.2, isReturn: random() < 0.2, isLast: random() < 0.1 };
    const days = [day, day - 1].flatMap((one) => [usageKey(one), leasesKey(one)]);
    const time = [String(Math.floor(nowMs / 1000)), String(Math.round((nowMs % 1000) * 1000))];
    await both(
      REPORT_AT,
      [replicaKey(replica), KEYS.replicas, KEYS.buckets, KEYS.mending, KEYS.lost, ...days],
      [
        JSON.stringify({ replica, number, lost: pick(random, ['0', '0', String(nowMs)]), ...flags, keys }),
        ...time,
      ],
    );
  };
  for (let step = 0; step < STEPS; step++) {
    nowMs += pick(random, [0, 1, 20, 100]) * (random() < 0.02 ? 20 : 1) * random();
    await pick(random, [changeKeys, look, report, report, report])();
    if (!t.passing()) break;
  }
  for (const key of [KEYS.keys, KEYS.buckets, usageKey(day), leasesKey(day)]) {
    const fields: string[] = [];
    for await (const field of connection.hash(key)) fields.push(field.join(' '));
    const [, simulated] = memory.send(['HSCAN', key, '0']) as [string, string[]];
    const pairs = simulated.flatMap((field, at) => (at % 2 === 0 ? `${field} ${simulated[at + 1]}` : []));
    t.same(pairs.toSorted(), fields.toSorted(), key);
  }
});

t.test('what the simulated store does not know it refuses', async (t) => {
  t.throws(() => compile('while true do end'), /Lua/);
  t.throws(() => compile("return string.gsub('a', 'b')")([], [], () => null));
  const store = new MemoryStore({ nowMs: () => 0, onPublished: () => undefined });
  t.throws(() => store.send(['LPUSH', 'list', 'a']), /ERR unknown command/);
  store.send(['SET', 'text', 'a']);
  t.throws(() => store.send(['HGET', 'text', 'a']), /WRONGTYPE/);
});
