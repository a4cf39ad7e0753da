import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { send } from '../fixtures/connection.js';
import { startServer } from '../fixtures/server.js';

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
const BODY = JSON.stringify({ current_session: { age: 40 } });

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
    const statusOf = async (key = ''): Promise<number> =>
      (await send(server.port, { headers: { 'X-API-Key': key }, body: BODY })).status;
    t.strictSame([await statusOf(live), await statusOf(passing), await statusOf(counted)], [200, 200, 200]);
    for (const seconds of JUMPS) {
      jumpTo(seconds);
      await pause(50);
      for (let sent = 0; sent < REQUESTS; sent++) {
        t.strictSame([await statusOf(live), await statusOf(counted)], [200, 200], `${seconds} s`);
      }
      t.equal(await statusOf(passing), seconds > DAY_S ? 403 : 200, `${seconds} s, a key of a week`);
      const ready = await send(server.adminPort, { method: 'GET', target: '/readyz' });
      t.equal(ready.status, 200, `${seconds} s`);
    }
    server.signal('SIGTERM');
    t.strictSame(await server.exited, { code: 0, signal: null });
  },
);
