import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { sendMany } from '../fixtures/connection.js';
import { acuity } from '../fixtures/scripts.js';
import { CLEAN, startServer, type RunningServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';
import { until } from '../fixtures/until.js';

interface Issued {
  readonly id: string;
  readonly key: string;
}

const BODY = '{"current_session":{}}';
const RATE_PER_S = 5; // so low that a starved machine asks for more too

// A store that is not there yet when the service starts.
const location = `file:${join(t.testdir(), 'deeper', 'still', 'keys.json')}`;
const server = await startServer(t, { env: { ...loopsOf(2), ACUITY_KEYS: location } });

/** Runs `acuity keys` on the key store of the running server. */
async function operate(...args: string[]): Promise<Issued> {
  const { code, stdout, stderr } = await acuity(['keys', ...args, '--json'], { ACUITY_KEYS: location });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Issued;
}

/** Asks until the answer has this status. */
const answered = (key: string, wanted: number): Promise<void> =>
  until(async () => (await server.predict(BODY, key)).status === wanted);

t.test('what the operator does to a running server counts, in each event loop', async (t) => {
  const old = await operate('issue', '--kind', 'demo', '--rate', 'unlimited');
  await answered(old.key, 200);
  const successor = await operate('rotate', old.id);
  await answered(old.key, 403);
  await answered(successor.key, 200);
  await operate('renew', successor.id);
  const other = await operate('issue', '--kind', 'live');
  await answered(other.key, 200);
  await operate('revoke', successor.id);
  await answered(successor.key, 403);
  await answered(other.key, 200);
  t.pass('of each event loop: until the answer has its status');
});

t.test('a key is held to one bucket over connections on two event loops', async (t) => {
  const { key } = await operate('issue', '--kind', 'live', '--rate', String(RATE_PER_S));
  await answered(key, 200);
  const startMs = performance.now();
  const statuses = await sendMany(server.port, { headers: { 'X-API-Key': key }, body: BODY }, 200, 20);
  const served = statuses.filter((one) => one === 200).length;
  // The bucket's arithmetic, at any speed of the machine; two buckets would give the burst twice.
  const most = 2 * RATE_PER_S + (RATE_PER_S * (performance.now() - startMs)) / 1000 + 1;
  t.ok(served <= most, `${served} of ${statuses.length} served, at most ${most}`);
  t.strictSame(new Set(statuses), new Set([200, 429]));
});

/**
 * The machine's clock jumps, as after a pause of a virtual machine or a first answer of a time server, while requests
 * come. libfaketime (Debian's package `faketime`) moves it for the process alone.
 */

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const WEEK_MS = 7 * DAY_S * 1000;

/** In seconds from the right time, one after the other. */
const JUMPS = [HOUR_S, -DAY_S, 40 * DAY_S, -40 * DAY_S, 0];
const REQUESTS = 12;

/** Debian keeps it in a folder for each kind of processor. */
const ROOT = '/usr/lib';
const library = (existsSync(ROOT) ? readdirSync(ROOT) : [])
  .map((folder) => join(ROOT, folder, 'faketime/libfaketimeMT.so.1'))
  .find((path) => existsSync(path));

t.test(
  'a clock that jumps: every request is answered, a key expires and comes back with its time',
  { skip: library === undefined && 'libfaketime is not installed (Debian: apt-get install faketime)' },
  async (t) => {
    const offset = join(t.testdir(), 'offset');
    const jumpTo = (seconds: number): void => writeFileSync(offset, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    jumpTo(0);
    const server = await startServer(t, {
      keys: [
        { kind: 'live', ratePerS: 50, expiresAt: new Date(Date.now() + WEEK_MS).toISOString() },
        { kind: 'live', ratePerS: null, dailyMax: 1000 },
      ],
      env: {
        LD_PRELOAD: library ?? '',
        FAKETIME_TIMESTAMP_FILE: offset,
        FAKETIME_NO_CACHE: '1',
        // Clocks that only go forward are no subject of a jump.
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        DONT_FAKE_MONOTONIC: '1',
      },
    });
    const [live, passing, counted] = server.keys.map(({ key }) => key);
    const statusOf = async (key = ''): Promise<number> => (await server.predict(undefined, key)).status;
    t.strictSame([await statusOf(live), await statusOf(passing), await statusOf(counted)], [200, 200, 200]);
    for (const seconds of JUMPS) {
      jumpTo(seconds);
      await pause(50);
      for (let sent = 0; sent < REQUESTS; sent++)
        t.strictSame([await statusOf(live), await statusOf(counted)], [200, 200], `${seconds} s`);
      t.equal(await statusOf(passing), seconds > DAY_S ? 403 : 200, `${seconds} s, a key of a week`);
      t.equal((await server.get('/readyz')).status, 200, `${seconds} s`);
    }
    t.strictSame(await server.stop(), CLEAN);
  },
);

t.test('a second server on one key file says so, once; a crash leaves no such warning behind', async (t) => {
  const name = 'a folder whose path is longer than that of a socket may be';
  const folder = join(t.testdir(), name, 'x'.repeat(99));
  mkdirSync(folder, { recursive: true });
  const env = { ACUITY_KEYS: `file:${join(folder, 'keys.json')}` };
  const warnings = ({ output }: RunningServer): number =>
    output().match(/^.*another process serves from this key file.*$/gm)?.length ?? 0;
  const sockets = (): number => readdirSync(folder).filter((name) => name.endsWith('.serving')).length;
  const first = await startServer(t, { env });
  const second = await startServer(t, { env });
  t.strictSame([first, second].map(warnings), [0, 1]);
  t.match(second.output(), 'ACUITY_KEYS=redis://');
  t.equal(sockets(), 2);
  first.signal('SIGKILL');
  t.strictSame(await second.stop(), CLEAN);
  await first.exited;
  t.equal(sockets(), 1, 'the killed one has left its own');
  const third = await startServer(t, { env });
  t.equal(warnings(third), 0);
  t.equal(sockets(), 1);
  t.strictSame(await third.stop(), CLEAN);
  t.equal(sockets(), 0);
});
