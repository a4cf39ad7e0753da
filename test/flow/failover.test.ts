import { fork } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { acuity } from '../fixtures/scripts.js';
import { REDIS, RIGHTS, startStore } from '../fixtures/redis.js';
import { startServer } from '../fixtures/server.js';
import { until } from '../fixtures/until.js';

/** What docs/FLEET.md promises at a failover, at stores whose user has the rights named there and no others. */

const { skip } = REDIS;
const USER = ['--user', 'acuity', 'on', '>secret', ...RIGHTS.split(' ')];
const PROMPT = ['--repl-diskless-sync-delay', '0', '--min-replicas-max-lag', '2'];

const urlAt = (port: number): string => `redis://acuity:secret@127.0.0.1:${port}/0`;

/** `acuity keys …` at a store. */
async function keys(url: string, ...args: string[]): Promise<Readonly<Record<'id' | 'key', string>>> {
  const { code, stdout, stderr } = await acuity(['keys', ...args, '--json'], { ACUITY_KEYS: url });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<'id' | 'key', string>;
}

const ISSUE = ['issue', '--kind', 'live', '--rate', 'unlimited'];

t.test(
  'a key revoked at the new primary is refused everywhere, with the old one alive',
  { skip },
  async (t) => {
    const [first, second] = await Promise.all(
      [1, 2].map(() => startStore(t, { args: [...USER, ...PROMPT] })),
    );
    if (first === undefined || second === undefined) throw new Error('two were asked for');
    const way = fork(new URL('../fixtures/forwarder.js', import.meta.url), [String(first.port)]);
    t.teardown(() => way.kill());
    const [port] = (await once(way, 'message')) as [number];
    const url = urlAt(port);
    const kept = await keys(url, ...ISSUE);
    const servers = await Promise.all([1, 2].map(() => startServer(t, { env: { ACUITY_KEYS: url } })));
    const all = async (key: string, status: number): Promise<boolean> => {
      const replies = await Promise.all(servers.map((server) => server.predict(undefined, key)));
      return replies.every((reply) => reply.status === status);
    };
    const locals = async (): Promise<number> => {
      const told = await Promise.all(servers.map((server) => server.metric('acuity_limits_local')));
      return told.filter((isLocal) => isLocal === 1).length;
    };
    for (const [name, old, next, isolate] of [
      ['a replica whose link is down', first, second, 'REPLICAOF 127.0.0.1 1'],
      ['alone, and wants a replica', second, first, 'CONFIG SET min-replicas-to-write 1'],
    ] as const)
      await t.test(`the old primary is ${name}`, async (t) => {
        const revoked = await keys(url, ...ISSUE);
        await next.say('REPLICAOF', '127.0.0.1', String(old.port));
        const held = await old.say('HLEN', 'acuity:keys');
        await until(async () => (await next.say('HLEN', 'acuity:keys')) === held);
        t.ok(await all(revoked.key, 200));
        await next.say('REPLICAOF', 'NO', 'ONE');
        await old.say(...isolate.split(' '));
        await until(async () => (await locals()) === 2, 20);
        t.ok(await all(revoked.key, 200), 'requests go on');
        await keys(urlAt(next.port), 'revoke', revoked.id);
        const ledMs = performance.now();
        way.send(next.port);
        await until(() => all(revoked.key, 403));
        t.comment(`refused everywhere after ${(performance.now() - ledMs).toFixed(0)} ms`);
        t.ok(await all(kept.key, 200));
        await until(async () => (await locals()) === 0);
      });
    for (const server of servers) t.match(server.output(), /takes no writes.*takes no writes/s);
  },
);

t.test(
  'a start at a store that takes no writes is up and not ready, and goes on asking',
  { skip },
  async (t) => {
    const store = await startStore(t, { args: USER });
    const url = urlAt(store.port);
    const { key } = await keys(url, ...ISSUE);
    for (const [refuse, accept, said] of [
      ['CONFIG SET min-replicas-to-write 1', 'CONFIG SET min-replicas-to-write 0', 'NOREPLICAS'],
      ['REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE', 'it says that it is a replica'],
    ] as const) {
      await store.say(...refuse.split(' '));
      const server = await startServer(t, { env: { ACUITY_KEYS: url } });
      const ready = async (): Promise<number> => (await server.get('/readyz')).status;
      await until(() => server.output().includes(said));
      t.equal((await server.predict(undefined, key)).status, 200, 'it has read the keys');
      t.equal(await ready(), 503);
      await store.say(...accept.split(' '));
      await until(async () => (await ready()) === 200);
    }
  },
);
