/// <reference lib="dom" />
import { spawn, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import type { HistoryStorage } from '#acuity/client/history.js';
import { DESK, openBrowser, openPage, PHONE, WITHOUT_BROWSER } from '../fixtures/browser.js';
import { MODEL } from '../fixtures/model.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { freePort, startServer } from '../fixtures/server.js';
import { casesOf, checkHistories } from '../fixtures/sharedCases.js';

/** The backend of examples/, with the recorded payloads, over the running service. */

const EXAMPLE = join(REPOSITORY, 'examples/backend');
const EVENTS = readFileSync(join(EXAMPLE, 'payloads/terra.ndjson'), 'utf8').trim().split('\n');
const MORNINGS = readFileSync(join(EXAMPLE, 'payloads/mornings.ndjson'), 'utf8').trim().split('\n');
const SECRET = 'a secret of this test';
type ExampleStore = HistoryStorage & { close(): void };
const isInstalled = existsSync(join(EXAMPLE, 'node_modules/better-sqlite3'));
const skip = !isInstalled && 'examples/backend is not installed: npm --prefix examples/backend ci';

t.test('the backend', { skip }, async (t) => {
  const tsc = [join(REPOSITORY, 'packages/build-tools/node_modules/typescript/bin/tsc'), '-p', EXAMPLE];
  await built(t, [join(REPOSITORY, 'scripts/build.js'), 'client']);
  await built(t, tsc);
  const service = await startServer(t);
  const env = { ACUITY_URL: `http://127.0.0.1:${service.port}`, ACUITY_API_KEY: service.key };

  await t.test('keeps nights in SQLite', async (t) => {
    const file = join(t.testdir({}), 'nights.db');
    const address = await start(t, { ...env, DATABASE_FILE: file });
    await scoresAll(t, address);
    t.equal(statSync(file).mode & 0o777, 0o600, 'health data');
    await t.test('says of each morning what it was made of, or why it is none', (t) => tells(t, address));
    await t.test('answers what it can’t score with 200 and why', (t) => refuses(t, address));
    await t.test('the page', { skip: WITHOUT_BROWSER }, (t) => looks(t, address));
  });

  await t.test('its SQLite keeps histories as every storage does', async (t) => {
    const { openStore } = (await import(join(EXAMPLE, 'dist/store.js'))) as {
      openStore(file: string): ExampleStore;
    };
    const store = openStore(join(t.testdir({}), 'nights.db'));
    await checkHistories(t, casesOf('history'), store);
    store.close();
  });

  await t.test('with a secret, accepts signed webhooks only', async (t) => {
    const file = join(t.testdir({}), 'nights.db');
    const address = await start(t, { ...env, DATABASE_FILE: file, TERRA_SIGNING_SECRET: SECRET });
    const body = EVENTS[0] ?? '';
    const seconds = Math.floor(Date.now() / 1000);
    const signed = (at: number, text: string) =>
      `t=${at},v1=${createHmac('sha256', SECRET).update(`${at}.${text}`).digest('hex')}`;
    const status = async (signature?: string) => (await send(address, body, signature)).status;
    t.equal(await status(), 401);
    t.equal(await status(signed(seconds, `${body} `)), 401);
    t.equal(await status(signed(seconds - 3600, body)), 401);
    t.equal(await status(signed(seconds, body)), 200);
  });

  await t.test('with a service of its own, leaves nothing behind when npm is stopped', async (t) => {
    const file = join(t.testdir({}), 'nights.db');
    const npm = spawn('npm', ['--prefix', EXAMPLE, 'start'], {
      env: cleanEnvironment({ PORT: '0', DATABASE_FILE: file, ACUITY_MODEL: MODEL }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => npm.kill('SIGKILL'));
    const left = once(npm, 'close'); // when no process is left that could write
    const address = await new Promise<string>((resolve) => {
      createInterface({ input: npm.stdout }).on('line', (line) => {
        if (line.startsWith('http')) resolve(line);
      });
    });
    t.equal((await fetch(address)).status, 200);
    npm.kill('SIGTERM');
    await left;
    await t.rejects(fetch(address));
  });

  await t.test('says 503 while the service does not answer, for the provider to send again', async (t) => {
    const file = join(t.testdir({}), 'nights.db');
    const withoutService = { ...env, ACUITY_URL: `http://127.0.0.1:${await freePort()}` };
    const address = await start(t, { ...withoutService, DATABASE_FILE: file });
    t.equal((await send(address, EVENTS[0] ?? '')).status, 503);
  });
});

async function built(t: Test, command: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await ended(process.execPath, command, {
    cwd: REPOSITORY,
    env: cleanEnvironment(),
  });
  t.equal(code, 0, stdout + stderr);
}

/** Its address. */
async function start(t: Test, variables: Readonly<Record<string, string>>): Promise<string> {
  const env = cleanEnvironment({ PORT: '0', ...variables });
  const child = spawn(process.execPath, [join(EXAMPLE, 'dist/main.js')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => stop(child, 'SIGTERM'));
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the backend ended');
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

function send(address: string, body: string, signature?: string): Promise<Response> {
  const headers = signature === undefined ? {} : { 'Terra-Signature': signature };
  return fetch(`${address}webhooks/terra`, { method: 'POST', body, headers });
}

async function scoresAll(t: Test, address: string): Promise<void> {
  for (const body of EVENTS) {
    t.strictSame(await (await send(address, body)).json(), { scored: true, person: 'person-1' });
  }
  const again = await send(address, EVENTS.at(-1) ?? '');
  t.equal(again.status, 200, 'the same night again does no harm');
  t.match(await (await fetch(address)).text(), '<a href="/people/person-1">');
  t.match(
    await (await fetch(`${address}people/person-1`)).text(),
    /20 nights, the last scored by [\w-]+\/\d/,
  );
}

/** A night in two sleeps with a nap beside it; the same sent again a day later; a provider that answers 401. */
async function tells(t: Test, address: string): Promise<void> {
  const answers: unknown[] = [];
  for (const body of MORNINGS) answers.push(await (await send(address, body)).json());
  const late =
    'sleep: no night to score: the newest ended 25 hours before the moment to score, and a night counts for 20';
  const dead =
    'sleep: expected an event of type sleep, or the answer of GET /sleep, with data; this is an error answer';
  t.match(answers, [
    { scored: true, person: 'person-2' },
    { scored: false, why: new RegExp(`^${late}`) },
    { scored: false, why: dead },
  ]);
  const page = await (await fetch(`${address}people/person-2`)).text();
  t.match(page, `<li>2026-03-03T07:15 ${late}`);
  t.match(page, `<li>2026-03-04T06:30 ${dead}`);
}

async function refuses(t: Test, address: string): Promise<void> {
  const why = async (change: (text: string) => string): Promise<unknown> => {
    const answer = await send(address, change(EVENTS[0] ?? ''));
    t.equal(answer.status, 200);
    return answer.json();
  };
  const nap = await why((text) => text.replace('"is_nap":false', '"is_nap":true'));
  t.match(nap, { scored: false, why: /only naps/ });
  t.equal((await send(address, 'no JSON')).status, 400);
  t.equal((await send(address, 'x'.repeat(9 * 1024 * 1024))).status, 413);
  t.equal((await fetch(`${address}nothing`)).status, 404);
  t.match(await (await fetch(`${address}people/%3Cb%3E`)).text(), '&#60;b&#62;');
}

async function looks(t: Test, address: string): Promise<void> {
  const browser = await openBrowser(t);
  for (const look of [DESK, PHONE]) {
    const { page, complaints } = await openPage(t, browser, { url: address, look });
    const fits = async (path: string): Promise<void> => {
      await page.goto(`${address}people/${path}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      t.equal(wide, look.width, `nothing to scroll sideways: ${path}`);
    };
    for (const path of ['person-1', 'person-2']) await fits(path);
    t.equal(await page.locator('tbody tr').count(), 1);
    t.strictSame(complaints, []);
  }
}
