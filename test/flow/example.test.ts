/// <reference lib="dom" />
import { createHmac } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { HistoryStorage } from '#acuity/client/history.js';
import { DESK, openBrowser, openPage, PHONE, WITHOUT_BROWSER } from '../fixtures/browser.js';
import { MODEL } from '../fixtures/model.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended, running } from '../fixtures/scripts.js';
import { freePort, startServer } from '../fixtures/server.js';
import { casesOf, checkHistories } from '../fixtures/sharedCases.js';

/** The backend of examples/backend/README.md, with the recorded payloads, over the running service. */

const EXAMPLE = join(REPOSITORY, 'examples/backend');
const payloads = (name: string): string[] =>
  readFileSync(join(EXAMPLE, 'payloads', name), 'utf8')
    .trim()
    .split('\n');
const EVENTS = payloads('terra.ndjson');
const [FIRST = ''] = EVENTS;
const SECRET = 'a secret of this test';
const ADDRESS = /^http.*(?=\n)/m;

t.test('the backend', async (t) => {
  for (const command of [
    [join(REPOSITORY, 'scripts/build.js'), 'client'],
    [join(REPOSITORY, 'packages/build-tools/node_modules/typescript/bin/tsc'), '-p', EXAMPLE],
  ]) {
    const { code, stdout, stderr } = await ended(process.execPath, command);
    t.equal(code, 0, stdout + stderr);
  }
  const service = await startServer(t);
  const file = join(t.testdir({}), 'nights.json');
  const env = { ...service.known, DATABASE_FILE: file };

  await t.test('keeps nights in a file', async (t) => {
    const address = await start(t, env);
    for (const body of EVENTS)
      t.strictSame(await (await send(address, body)).json(), { scored: true, person: 'person-1' });
    t.equal((await send(address, EVENTS.at(-1) ?? '')).status, 200, 'the same night again does no harm');
    t.match(await (await fetch(address)).text(), '<a href="/people/person-1">');
    t.equal(statSync(file).mode & 0o777, 0o600, 'health data');
    const page = async (path: string): Promise<string> => (await fetch(`${address}people/${path}`)).text();
    t.match(await page('person-1'), /20 nights, the last scored by [\w-]+\/\d/);
    await t.test('says of each morning what it was made of, or why it is none', async (t) => {
      // A night in two sleeps with a nap beside it; the same sent again a day later; a provider that answers 401.
      const answers: unknown[] = [];
      for (const body of payloads('mornings.ndjson')) answers.push(await (await send(address, body)).json());
      const late =
        'sleep: no night to score, nor a sample of the hour before: the newest night ended 25 hours before the moment to score, and a night counts for 20. Sync';
      const dead =
        'sleep: expected an event of type sleep, or the answer of GET /sleep, with data; this is an error answer';
      t.match(answers, [
        { scored: true, person: 'person-2' },
        { scored: false, why: new RegExp(`^${late}`) },
        { scored: false, why: dead },
      ]);
      t.match(await page('person-2'), /<p>1 night, the last scored/);
      t.match(await page('person-2'), `<li>2026-03-03T07:15 ${late}`);
      t.match(await page('person-2'), `<li>2026-03-04T06:30 ${dead}`);
    });
    await t.test('answers what it can’t score with 200 and why', async (t) => {
      const nap = await send(address, FIRST.replace('"is_nap":false', '"is_nap":true'));
      t.equal(nap.status, 200);
      t.match(await nap.json(), { scored: false, why: /only naps/ });
      t.equal((await send(address, 'no JSON')).status, 400);
      t.equal((await send(address, 'x'.repeat(9 * 1024 * 1024))).status, 413);
      t.equal((await fetch(`${address}nothing`)).status, 404);
      t.match(await page('%3Cb%3E'), '&#60;b&#62;');
    });
    await t.test('the pages', { skip: WITHOUT_BROWSER }, (t) => looks(t, address));
  });

  await t.test('its file keeps histories as every storage does', async (t) => {
    const { openStore } = (await import(join(EXAMPLE, 'dist/store.js'))) as {
      openStore(file: string): HistoryStorage;
    };
    await checkHistories(t, casesOf('history'), openStore(join(t.testdir({}), 'nights.json')));
  });

  await t.test('with a secret, accepts signed webhooks only; without the service, says 503', async (t) => {
    const ACUITY_URL = `http://127.0.0.1:${await freePort()}`;
    const address = await start(t, { ...env, ACUITY_URL, TERRA_SIGNING_SECRET: SECRET });
    const seconds = Math.floor(Date.now() / 1000);
    const signed = (at: number, text: string) =>
      `t=${at},v1=${createHmac('sha256', SECRET).update(`${at}.${text}`).digest('hex')}`;
    for (const [signature, status] of [
      [undefined, 401],
      [signed(seconds, `${FIRST} `), 401],
      [signed(seconds - 3600, FIRST), 401],
      [signed(seconds, FIRST), 503], // for the provider to send again
    ] as const)
      t.equal((await send(address, FIRST, signature)).status, status);
  });

  await t.test('with a service of its own, leaves nothing behind when npm is stopped', async (t) => {
    const npm = running(t, ['npm', '--prefix', EXAMPLE, 'start'], {
      env: cleanEnvironment({ PORT: '0', DATABASE_FILE: file, ACUITY_MODEL: MODEL }),
    });
    const address = await npm.says(ADDRESS);
    t.equal((await fetch(address)).status, 200);
    npm.child.kill('SIGTERM');
    await npm.exited; // no process is left that could write
    await t.rejects(fetch(address));
  });
});

/** Its address. */
function start(t: Test, variables: Readonly<Record<string, string>>): Promise<string> {
  const env = cleanEnvironment({ PORT: '0', ...variables });
  return running(t, [process.execPath, join(EXAMPLE, 'dist/main.js')], { env }).says(ADDRESS);
}

function send(address: string, body: string, signature?: string): Promise<Response> {
  const headers = signature === undefined ? {} : { 'Terra-Signature': signature };
  return fetch(`${address}webhooks/terra`, { method: 'POST', body, headers });
}

async function looks(t: Test, address: string): Promise<void> {
  const browser = await openBrowser(t);
  for (const look of [DESK, PHONE]) {
    const { page, complaints } = await openPage(t, browser, { url: address, look });
    for (const path of ['person-1', 'person-2']) {
      await page.goto(`${address}people/${path}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      t.equal(wide, look.width, `nothing to scroll sideways: ${path}`);
    }
    t.equal(await page.locator('tbody tr').count(), 1);
    t.strictSame(complaints, []);
  }
}
