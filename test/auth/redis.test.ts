import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openKeyring } from '#acuity/auth/keyring.js';
import { issue, revoked, type KeyOrder } from '#acuity/auth/lifecycle.js';
import { Limits } from '#acuity/auth/limits/limits.js';
import { openStores, storesAt } from '#acuity/auth/location.js';
import { RedisAddress } from '#acuity/auth/redis/redisConnection.js';
import type { KeyStores, Ledger } from '#acuity/auth/store.js';
import { systemClock } from '#acuity/base/clock.js';
import { registerKeys } from '#acuity/commands/keys.js';
import { KeyCheck } from '../fixtures/keyCheck.js';
import { makeCertificate, WITHOUT_OPENSSL } from '../fixtures/certificate.js';
import { commanded } from '../fixtures/lake.js';
import { acuity } from '../fixtures/scripts.js';
import { REDIS, RIGHTS, startStore, usedOf, type RunningStore } from '../fixtures/redis.js';
import { freePort } from '../fixtures/server.js';
import { listening, until } from '../fixtures/until.js';

/** The promises of docs/FLEET.md that take a real Redis; fleet.test.ts has those of counts. */

const { skip } = REDIS;

/** One replica's keys and limits, as the service has them; with `staleMs` it reports by itself. */
async function startReplica(t: Test, url: string, staleMs?: number) {
  const clock = systemClock;
  const stores = await openAt(t, url);
  const limits = new Limits(Limits.allocate(1000));
  const keyCheck = new KeyCheck({ clock, limits });
  const problems: string[] = [];
  let ledger: Ledger | undefined;
  const keyring = await openKeyring({
    store: stores.keys,
    ledger: (parts) => (ledger = stores.ledger(parts)),
    limits,
    clock,
    ...(staleMs === undefined ? { repeat: () => () => undefined } : { staleMs }),
    keepsRevoked: true,
    onRecords: (records) => keyCheck.replace(records),
    onProblem: (error) => void problems.push(error.message),
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= keyring.close());
  t.teardown(close);
  return {
    keyring,
    problems,
    close,
    /** Writes its counts and reads those of the others, as it does ten times a second. */
    report: async (): Promise<void> =>
      ledger?.save().catch((error: Error) => void problems.push(error.message)),
    /** Whether the key is admitted; `isAnswered`: its answer is a 200. */
    ask(key: string, isAnswered = true): boolean {
      const verdict = keyCheck.check(key);
      if (verdict.outcome !== 'admitted') return false;
      if (!isAnswered) keyCheck.refund(verdict);
      return true;
    },
  };
}
async function openAt(t: Test, url: string): Promise<KeyStores> {
  const stores = await openStores(url);
  t.teardown(() => stores.close());
  return stores;
}

async function issueAt(t: Test, url: string, order: KeyOrder): Promise<{ id: string; key: string }> {
  const { record, key } = issue(order, Date.now());
  await (await openAt(t, url)).keys.insert(record);
  return { id: record.id, key };
}

async function revokeAt(t: Test, url: string, id: string): Promise<void> {
  await (await openAt(t, url)).keys.amend(id, (record) => revoked(record, Date.now()));
}

const usageAt = async (t: Test, url: string, id: string) => usedOf(await openAt(t, url), id);

t.test('a connection to a server that never answers', async (t) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined).resume()));
  t.teardown(() => sockets.forEach((socket) => socket.destroy()));
  const url = `redis://user:secret@127.0.0.1:${await listening(t, server)}`;
  const ping = (address: RedisAddress): Promise<unknown> => address.line().sendAll([['PING']]);

  t.test('each call ends in its time', async (t) => {
    const address = new RedisAddress(url, 100);
    for (let at = 0; at < 3; at++)
      await t.rejects(ping(address), { name: 'KeyStoreError', message: /does not answer|timeout/ });
    address.close();
  });

  for (const isOpen of [true, false])
    t.test(`closing ends it at once, and what comes later; opened: ${isOpen}`, async (t) => {
      const seen = sockets.size;
      const address = new RedisAddress(url, 60_000);
      const refused = t.rejects(ping(address), { message: /closed/ });
      if (isOpen) await until(() => sockets.size > seen);
      address.close();
      await refused;
      await t.rejects(ping(address), { message: /closed/ });
      await until(() => [...sockets].every((socket) => socket.readableEnded || socket.destroyed));
    });
});

/** A store that can be set back to what it last saved, as a failover or a crash does it; each test begins with it empty. */
let store: RunningStore;
let url: string;
t.before(async () => {
  if (skip !== false) return;
  store = await startStore(t, { args: ['--enable-debug-command', 'local'] });
  ({ url } = store);
});
t.beforeEach(async () => {
  if (skip !== false) return;
  await store.say('FLUSHALL');
  await store.say('SAVE');
});

t.test('predictions count once each, also where answers of the store come late', { skip }, async (t) => {
  const { id, key } = await issueAt(t, url, { kind: 'live', ratePerS: null });
  const replicas = await Promise.all([startReplica(t, url), startReplica(t, url)]);
  let answered = 0;
  const work = async (): Promise<void> => {
    for (const replica of replicas) {
      for (let at = 0; at < 20; at++) answered += Number(replica.ask(key));
      replica.ask(key, false);
      await replica.report();
    }
  };
  await work();
  t.strictSame(await (await openAt(t, url)).spread(), { replicas: 2, seen: 2 });
  store.pause();
  const late = work();
  store.resume();
  await late;
  await work();
  t.equal(answered, 120);
  replicas[0]?.ask(key);
  for (const replica of replicas) await replica.close();
  t.equal(await usageAt(t, url, id), answered + 1, 'the last ones are written on leaving');
});

t.test('a store that is gone, and comes back', { skip }, async (t) => {
  const kept = await startStore(t, { isKept: true });
  const { url } = kept;
  const { id, key } = await issueAt(t, url, { kind: 'live', ratePerS: null });
  const [first, short] = [await startReplica(t, url), await startReplica(t, url, 300)];
  t.ok(first.ask(key) && short.ask(key));
  await first.report();
  await kept.kill();

  t.test('known keys go on, and that is told', async (t) => {
    await until(() => first.report().then(() => first.keyring.isLocal));
    t.ok(first.ask(key));
    t.match(first.problems.join(), /can't reach the key store/);
    await until(() => first.keyring.ageMs > 1000); // a store that answers is asked more often
  });

  t.test('keys that could not be confirmed for too long count no more', async (t) => {
    await until(() => short.keyring.isStale);
    t.notOk(short.ask(key));
    t.strictSame(short.keyring.records, []);
    t.match(short.problems.join(), /no key counts any more/);
  });

  t.test('when it is back, all is as before, and nothing is lost', async (t) => {
    await kept.start();
    await until(() => !short.keyring.isStale);
    t.ok(short.ask(key));
    await short.close();
    await until(() => first.report().then(async () => (await usageAt(t, url, id)) === 4));
    await until(() => first.report().then(() => !first.keyring.isLocal));
  });

  t.test('empty, it changes no key, and takes no new one before the old', async (t) => {
    const { keys } = await openAt(t, url);
    const records = await keys.list();
    await kept.say('FLUSHALL');
    await until(() => first.keyring.isStoreEmpty);
    t.match(first.problems.join(), /came back empty/);
    t.ok(first.ask(key));
    await until(() => first.report().then(async () => (await kept.say('HLEN', 'acuity:replicas')) === ':1'));
    for (const token of ['SET', 'DEL']) {
      await kept.say(token, 'acuity:keys:token', ...(token === 'SET' ? ['left'] : []));
      const message = /go on with the keys they have: import those/;
      await t.rejects(issueAt(t, url, { kind: 'live' }), { message });
    }
    t.equal(await keys.insertMissing(records), records.length);
    await until(() => !first.keyring.isStoreEmpty);
    t.ok(first.ask(key));
  });
});

t.test('commands work on a store that has lost its token, or its records', { skip }, async (t) => {
  const { id, key } = await issueAt(t, url, { kind: 'live' });
  const { id: other } = await issueAt(t, url, { kind: 'live' });
  const replica = await startReplica(t, url, 60_000);
  await store.say('DEL', 'acuity:keys:token');
  await until(() => replica.keyring.isStoreEmpty);
  t.match(await command(t, url, 'list'), new RegExp(`${id}.*valid`));
  t.match(await command(t, url, 'usage'), /^no predictions/);
  t.match(await command(t, url, 'revoke', id), `${id} is revoked since`);
  await until(() => !replica.keyring.isStoreEmpty);
  t.notOk(replica.ask(key), 'the change wrote a token');

  const file = join(t.testdir(), 'keys.json');
  for (const record of await (await openAt(t, url)).keys.list())
    await storesAt(`file:${file}`).keys.insert(record);
  await store.say('RENAME', 'acuity:keys', 'lost');
  t.match(await command(t, url, 'list'), /^no keys/);
  t.match(await command(t, url, 'revoke', other), /there is no key/);
  t.match(await command(t, url, 'import', file), /^2 keys imported/);
});

t.test('where the way of pushes is shut, keys are looked at all the same', { skip }, async (t) => {
  const { url, port } = await startStore(t);
  const way = createServer((from) => {
    const onward = connect(port, '127.0.0.1');
    const end = (): void => void (from.destroy(), onward.destroy());
    from.on('data', (chunk) => (/SUBSCRIBE/i.test(chunk.toString('latin1')) ? end() : onward.write(chunk)));
    onward.on('error', end).on('close', end).pipe(from.on('error', end).on('close', end));
  });
  const wayPort = await listening(t, way);
  const { id, key } = await issueAt(t, url, { kind: 'live', ratePerS: null });
  const { ask } = await startReplica(t, url.replace(`:${port}`, `:${wayPort}`));
  t.ok(ask(key));
  await revokeAt(t, url, id);
  await until(() => !ask(key));
});

t.test('a store that has lost its last writes', { skip }, async (t) => {
  const { id, key } = await issueAt(t, url, { kind: 'live' });
  const replica = await startReplica(t, url);
  await store.say('SAVE');
  const lost = await issueAt(t, url, { kind: 'live' });
  await revokeAt(t, url, id);
  await until(() => replica.ask(lost.key) && !replica.ask(key));
  await store.say('DEBUG', 'RELOAD', 'NOSAVE');
  for (let change = 0; change < 2; change++) {
    const marker = await issueAt(t, url, { kind: 'live' });
    await until(() => replica.ask(marker.key));
  }
  t.notOk(replica.ask(lost.key), 'a new key is lost');
  t.notOk(replica.ask(key), 'a key seen revoked stays revoked');
  t.equal(replica.keyring.revocationsLost, 1);
  t.equal(replica.problems.filter((problem) => problem.includes(id)).length, 1, replica.problems.join());
  await revokeAt(t, url, id);
  await until(() => replica.keyring.revocationsLost === 0);
  t.notOk(replica.ask(key));
});

t.test('one record that can’t be read is skipped, and said; the others count', { skip }, async (t) => {
  const { id, key } = await issueAt(t, url, { kind: 'live' });
  const kept = await issueAt(t, url, { kind: 'live' });
  const replica = await startReplica(t, url, 60_000);
  await store.say('HSET', 'acuity:keys', 'key_newer', '{"id":"key_newer","kind":"partner"}');
  const seen = new RegExp(`^${id} is revoked since .*, seen by [01] of 1 replicas`);
  t.match(await command(t, url, 'revoke', id), seen);
  await until(() => !replica.ask(key));
  t.ok(replica.ask(kept.key));
  t.equal(replica.keyring.unreadable, 1);
  const about = replica.problems.map((problem) => problem.slice(0, 22));
  t.strictSame(about, ['the record "key_newer"']);
  t.match(await command(t, url, 'list'), /"key_newer": this record can't be read/);
  await t.rejects(revokeAt(t, url, 'key_newer'), { message: /can't be read by this version/ });
  await store.say('HDEL', 'acuity:keys', kept.id);
  await store.say('SET', 'acuity:keys:token', 'another');
  await until(() => !replica.ask(kept.key));
  t.pass('a key whose record is gone is refused');
});

t.test('a key with an end that is no date is refused, and named', { skip }, async (t) => {
  const { id, key } = await issueAt(t, url, { kind: 'live' });
  const [record] = await (await openAt(t, url)).keys.list();
  await store.say(
    'HSET',
    'acuity:keys',
    id,
    JSON.stringify({ ...record, expiresAt: '2025-13-01T00:00:00Z' }),
  );
  const replica = await startReplica(t, url);
  t.notOk(replica.ask(key));
  t.notOk(replica.keyring.hasUsable);
  t.match(replica.problems.join(), `the record "${id}" in the key store can't be read`);
  t.match(await command(t, url, 'list'), `"${id}": this record can't be read`);
});

t.test('records of one key are skipped and named, and all others change', { skip }, async (t) => {
  const { id, key } = await issueAt(t, url, { kind: 'live' });
  const other = await issueAt(t, url, { kind: 'live' });
  const records = await (await openAt(t, url)).keys.list();
  const copy = { ...records.find((record) => record.id === id), id: 'key_copy' };
  await store.say('HSET', 'acuity:keys', copy.id, JSON.stringify(copy));
  const replica = await startReplica(t, url);
  t.notOk(replica.ask(key), 'which of the two records holds is not known');
  t.ok(replica.ask(other.key));
  t.equal(replica.keyring.unreadable, 2);
  for (const name of [id, copy.id]) {
    t.match(replica.problems.join(), `the record "${name}"`);
    t.match(await command(t, url, 'list'), `"${name}": this record can't be read`);
  }
  t.match(await command(t, url, 'revoke', other.id), `${other.id} is revoked since`);
  t.match(await command(t, url, 'issue', '--kind', 'live'), /^id /);
});

/** What `acuity keys` prints. */
async function command(t: Test, location: string, ...argv: string[]): Promise<string> {
  const ran = await commanded(t, (program) => registerKeys(program, () => location), ['keys', ...argv]);
  return ran.stdout + ran.said;
}

t.test('each unsupported key store has its message', { skip }, async (t) => {
  const refusals = async (url: string): Promise<readonly string[]> => {
    const { keys } = await openAt(t, url);
    const { record } = issue({ kind: 'live' }, Date.now());
    const calls = [keys.insert(record), keys.amend('key_1', (was) => ({ record: was }))];
    const said = (error: Error): string => `${error.name}: ${error.message}`;
    return Promise.all(calls.map((call) => call.then(String, said)));
  };
  const nodes = [1, 2].map(() => startStore(t, { args: ['--cluster-enabled', 'yes'] }));
  const [whole, part] = (await Promise.all(nodes)) as [RunningStore, RunningStore];
  const cluster = /^KeyStoreError: the key store is a Redis Cluster.*a primary that has one name/;
  await whole.say('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  t.match((await refusals(whole.url))[0], cluster);
  for (const refusal of await refusals(part.url)) t.match(refusal, cluster);
  t.match(await command(t, part.url, 'revoke', 'key_1'), /^error: the key store is a Redis Cluster.*\n$/);

  const { port } = await startStore(t, { isSentinel: true });
  for (const refusal of await refusals(`redis://127.0.0.1:${port}`))
    t.match(refusal, /^KeyStoreError: .*of a primary, not of a Sentinel/);

  const primary = await startStore(t);
  const replica = await startStore(t, { args: ['--replicaof', '127.0.0.1', String(primary.port)] });
  for (const isReadOnly of ['yes', 'no']) {
    await replica.say('CONFIG', 'SET', 'replica-read-only', isReadOnly);
    for (const refusal of await refusals(replica.url))
      t.match(refusal, /^ReadOnlyStoreError: the key store is a replica that takes no writes/, isReadOnly);
  }
});

t.test('a user of the store with the rights that the documents name', { skip }, async (t) => {
  await store.say('ACL', 'SETUSER', 'acuity', 'on', '>pass word', ...RIGHTS.split(' '));
  await store.say('ACL', 'SETUSER', 'reader', 'on', '>pass word', '~acuity:*', '+hello', '+hget');
  const location = `redis://acuity:pass%20word@127.0.0.1:${store.port}/0`;
  const { id, key } = await issueAt(t, location, { kind: 'live', dailyMax: 100 });
  const replica = await startReplica(t, location);
  t.ok(replica.ask(key));
  for (let report = 0; report < 2; report++) await replica.report();
  t.equal(await usageAt(t, location, id), 1);
  await replica.close();
  t.strictSame(replica.problems, []);
  const others = await openAt(t, location.replace('acuity:', 'reader:'));
  await t.rejects(others.keys.list(), { name: 'KeyStoreError', message: /NOPERM (?!.*pass)/ });
  const stranger = await openAt(t, location.replace('pass%20word', 'secret'));
  await t.rejects(stranger.keys.list(), { name: 'KeyStoreError', message: /WRONGPASS (?!.*secret)/ });
  const locked = await startStore(t, { args: ['--requirepass', 'secret'] });
  const message = /^the key store wants a password; .*NOAUTH/;
  await t.rejects((await openAt(t, locked.url)).keys.list(), { message });
});

const skipTls = skip || WITHOUT_OPENSSL;

t.test('commands over TLS, with a certificate that is trusted or not', { skip: skipTls }, async (t) => {
  const { keyFile, certificateFile: certificate } = makeCertificate(t.testdir());
  const tlsPort = await freePort();
  const tls = ['--tls-port', String(tlsPort), '--tls-cert-file', certificate, '--tls-key-file', keyFile];
  const plain = await startStore(t, { args: [...tls, '--tls-auth-clients', 'no'] });
  const location = `rediss://localhost:${tlsPort}`;
  const env = { ACUITY_KEYS: location, NODE_EXTRA_CA_CERTS: certificate };
  const trusted = await acuity(['keys', 'issue', '--kind', 'live'], env);
  t.equal(trusted.code, 0, trusted.stderr);
  t.equal((await (await openAt(t, plain.url)).keys.list()).length, 1);
  t.match(await command(t, location, 'list'), /^error: can't reach the key store: .*CERT.*\n$/);
});
