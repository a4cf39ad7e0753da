/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import t, { type Test } from 'tap';
import { pageFor } from '#acuity/tune/report.js';
import { requestBody } from '../fixtures/bodies.js';
import {
  DESK,
  isSound,
  openBrowser,
  openPage,
  PHONE,
  seriousFindings,
  WAIT,
  WITHOUT_BROWSER,
  type OpenPage,
} from '../fixtures/browser.js';
import { Connection, send, sendOn } from '../fixtures/connection.js';
import { FINDINGS } from '../fixtures/pageSamples.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

/** The pages of the admin listener in a real browser, over a real server. */

const CHARTS = 9;
const LOOKS = [DESK, PHONE];

t.test('the pages of the admin listener', { skip: WITHOUT_BROWSER }, async (t) => {
  const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
  const browser = await openBrowser(t);
  for (const look of LOOKS) {
    await t.test(`the live page, ${look.width} px wide, ${look.scheme}`, async (t) => {
      const opened = await openPage(t, browser, { url: `http://127.0.0.1:${server.adminPort}/`, look });
      await draws(t, opened);
      await saysFirst(t, opened);
      await moves(t, opened, server);
      await isSoundUnfolded(t, opened, look.width);
    });
    await t.test(`the reference, ${look.width} px wide, ${look.scheme}`, (t) =>
      reference(t, { browser, look, server }),
    );
  }
  await t.test('the page of acuity tune', (t) => tunePage(t, browser));
  await t.test('the example of an explained answer', (t) => explainedExample(t, browser));
  await t.test('the live page reports that the server has gone', async (t) => {
    const { page } = await openPage(t, browser, {
      url: `http://127.0.0.1:${server.adminPort}/`,
      look: DESK,
    });
    await page.waitForSelector('#status.good', WAIT);
    server.signal('SIGTERM');
    await page.waitForSelector('#status.waiting, #status.bad', WAIT);
    await page.waitForFunction(
      () => globalThis.document.getElementById('sentence')?.textContent?.startsWith('All is well') !== true,
      undefined,
      WAIT,
    );
    t.pass('no sentence that is no longer true');
  });
});

async function draws(t: Test, { page }: OpenPage): Promise<void> {
  await t.test('draws', async (t) => {
    await page.waitForSelector('#status.good', WAIT);
    t.equal(await page.textContent('#status'), 'ready');
    t.equal(await page.locator('#charts canvas').count(), CHARTS);
    t.equal(await page.locator('#tiles dd').count(), 6);
    t.match(await page.textContent('#model'), /^[\w-]+\/\d+\.\d+\.\d+/);
    t.ok(
      await page.locator('#defaults tr', { hasText: 'ACUITY_QUEUE_MAX' }).isHidden(),
      'defaults are folded',
    );
    t.match(await page.textContent('#settings'), /ACUITY_DEADLINE_MS\s*30000/, 'what was set is shown');
    t.equal(await page.locator('.legend input').count(), 0);
    t.match(await page.textContent('#symptoms'), 'event loop busy: amber from 75 %, red from 90 %');
  });
}

async function saysFirst(t: Test, { page }: OpenPage): Promise<void> {
  await t.test('the sentence and the numbers come first', async (t) => {
    const tops = await page.evaluate(() =>
      ['sentence', 'tiles', 'charts', 'log', 'settings'].map(
        (id) => globalThis.document.getElementById(id)?.getBoundingClientRect().top ?? NaN,
      ),
    );
    t.strictSame(
      tops,
      tops.toSorted((a, b) => a - b),
    );
    t.ok((tops[1] ?? NaN) < 700, `the numbers begin at ${tops[1]} px`);
  });
}

async function moves(t: Test, { page }: OpenPage, server: RunningServer): Promise<void> {
  await t.test('moves under load, and reports what is wrong', async (t) => {
    const ended = untilStopped(server);
    await page.waitForFunction(shows, { tile: 'scored', above: 0 }, WAIT);
    await page.waitForFunction(shows, { tile: 'p99', above: 0 }, WAIT);
    await page.waitForFunction(refusals, 'keyInvalid', WAIT);
    await page.waitForSelector('#diagnosis.red', WAIT);
    await page.waitForSelector('#log li', WAIT);
    await page.waitForFunction(isInked, undefined, WAIT);
    t.match(await page.getAttribute('#charts canvas', 'aria-label'), /Throughput.*scored \d/);
    t.ok(await page.locator('.cause').first().isVisible());
    await ended();
  });
}

async function isSoundUnfolded(t: Test, opened: OpenPage, width: number): Promise<void> {
  await t.test('fits, is legible, loads nothing from elsewhere and logs no error', async (t) => {
    for (const details of await opened.page.locator('details').all()) {
      await details.evaluate((one) => one.setAttribute('open', ''));
    }
    await isSound(t, opened, width);
  });
}

interface Setting {
  readonly browser: Browser;
  readonly look: typeof DESK;
  readonly server: RunningServer;
}

async function reference(t: Test, { browser, look, server }: Setting): Promise<void> {
  const url = `http://127.0.0.1:${server.adminPort}/docs`;
  const { page, complaints, elsewhere } = await openPage(t, browser, { url, look });
  t.match(await page.textContent('#reference'), 'Score one session');
  for (const [label, code] of [
    ['curl', 'curl -s'],
    ['TypeScript', 'AcuityClient.fromEnvironment'],
    ['Python', 'with AcuityClient() as client'],
  ] as const) {
    const sample = page.locator('details', { has: page.getByText(label, { exact: true }) });
    await sample.locator('summary').click();
    t.match(await sample.locator('pre').innerText(), code, `a sample in ${label}`);
  }
  const ground = await page.evaluate(() => getComputedStyle(globalThis.document.body).backgroundColor);
  t.equal(ground, look.scheme === 'dark' ? 'rgb(16, 20, 27)' : 'rgb(244, 245, 248)');
  t.strictSame(await seriousFindings(page), []);
  t.strictSame(elsewhere, []);
  t.strictSame(complaints, []);
}

/** Pages that are files: they have to read well on a phone too. */
async function tunePage(t: Test, browser: Browser): Promise<void> {
  const folder = t.testdir({ 'tune.html': pageFor(FINDINGS) });
  for (const look of LOOKS) {
    await t.test(`${look.width} px wide`, async (t) => {
      const url = pathToFileURL(join(folder, 'tune.html')).href;
      const opened = await openPage(t, browser, { url, look });
      const cut = await opened.page.evaluate(() =>
        [...globalThis.document.querySelectorAll('.wide')]
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ textContent }) => textContent),
      );
      t.strictSame(cut, [], 'tables wrap');
      await isSound(t, opened, look.width);
    });
  }
}

/** docs/examples/explained.html, opened as a file. */
async function explainedExample(t: Test, browser: Browser): Promise<void> {
  const url = pathToFileURL(join(REPOSITORY, 'docs/examples/explained.html')).href;
  for (const look of LOOKS) {
    const opened = await openPage(t, browser, { url, look });
    const { page } = opened;
    t.equal(await page.locator('#scores button svg .range').count(), 5);
    t.equal(await page.locator('#scores button svg .reference').count(), 5);
    t.equal(await page.locator('#scores button svg .typical').count(), 5, '50 is marked on every axis');
    t.equal(await page.locator('#contributors svg rect').count(), 6);
    t.match(await page.textContent('#quality'), 'Confidence in the recording: high');
    await page.click('#scores [data-score="stress"]');
    t.match(await page.textContent('#what'), 'Stress');
    t.match(await page.textContent('#contributors'), /amount of sleep ●\s*\+\d/);
    await isSound(t, opened, look.width);
  }
}

/** Sends requests, some of them without a good key, until what is returned is called. */
function untilStopped({ port, key }: RunningServer): () => Promise<void> {
  const stop = new AbortController();
  const body = JSON.stringify(requestBody(0));
  const caller = async (): Promise<void> => {
    const connection = await Connection.open(port);
    while (!stop.signal.aborted) {
      await sendOn(connection, { headers: { 'X-API-Key': key }, body });
      await pause(20);
    }
    connection.destroy();
  };
  const stranger = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await send(port, { headers: { 'X-API-Key': 'sk_live_nonsense' }, body });
      await pause(20);
    }
  };
  const callers = [caller(), stranger()];
  for (const one of callers) one.catch(() => undefined); // told when they are awaited
  return async () => {
    stop.abort();
    await Promise.all(callers);
  };
}

// What follows runs in the page: it may use nothing from here.

function shows({ tile, above }: { tile: string; above: number }): boolean {
  const rows = [...globalThis.document.querySelectorAll('#tiles div')];
  const row = rows.find((one) => one.querySelector('dt')?.textContent === tile);
  return Number(row?.querySelector('dd span')?.textContent?.replaceAll(',', '')) > above;
}

function refusals(cause: string): boolean {
  const rows = [...globalThis.document.querySelectorAll('#refusals tbody tr')];
  const row = rows.find((one) => one.querySelector('code')?.textContent === cause);
  return Number(row?.querySelectorAll('td')[3]?.textContent?.replaceAll(',', '')) > 0;
}

/** Whether the first chart has lines: they alone have a colour, axes and grid are grey. */
function isInked(): boolean {
  const chart = globalThis.document.querySelector<HTMLCanvasElement>('#charts canvas');
  const copy = globalThis.document.createElement('canvas');
  const context = copy.getContext('2d', { willReadFrequently: true });
  if (!chart || !context) return false;
  copy.width = chart.width;
  copy.height = chart.height;
  context.drawImage(chart, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) {
    const [r = 0, g = 0, b = 0] = data.subarray(at, at + 3);
    if (Math.max(r, g, b) - Math.min(r, g, b) > 60) count++;
  }
  return count > 20;
}
