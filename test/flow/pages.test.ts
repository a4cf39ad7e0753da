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
import { send } from '../fixtures/connection.js';
import { MODEL } from '../fixtures/model.js';
import { FINDINGS } from '../fixtures/pageSamples.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

/** The pages of the admin listener in a real browser, over a real server. */

const CHARTS = 9;
const LOOKS = [DESK, PHONE];

t.test('the pages of the admin listener', { skip: WITHOUT_BROWSER }, async (t) => {
  const env = { ACUITY_LOG_LEVEL: 'fatal', ACUITY_SHADOW_MODEL: MODEL, ACUITY_SHADOW_SHARE: '1' };
  const server = await startServer(t, { env });
  const browser = await openBrowser(t);
  for (const look of LOOKS) {
    await t.test(`the live page, ${look.width} px wide, ${look.scheme}`, async (t) => {
      const opened = await openPage(t, browser, { url: `http://127.0.0.1:${server.adminPort}/`, look });
      await draws(t, opened);
      await moves(t, opened, server);
      await isSoundUnfolded(t, opened, look.width);
    });
    await t.test(`the reference, ${look.width} px wide, ${look.scheme}`, (t) =>
      reference(t, { browser, look, server }),
    );
  }
  await t.test('the page of acuity tune', (t) => tunePage(t, browser));
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
  await page.waitForSelector('#status.good', WAIT);
  t.equal(await page.locator('#charts canvas').count(), CHARTS);
  t.match(await page.textContent('#model'), /^[\w-]+\/\d+\.\d+\.\d+/);
  t.ok(await page.locator('#defaults tr', { hasText: 'ACUITY_QUEUE_MAX' }).isHidden(), 'defaults are folded');
  t.match(await page.textContent('#settings'), /ACUITY_DEADLINE_MS\s*30000/, 'what was set is shown');
}

async function moves(t: Test, { page }: OpenPage, server: RunningServer): Promise<void> {
  await t.test('moves under load, and reports what is wrong', async (t) => {
    const ended = untilStopped(server);
    await page.waitForFunction(shows, { tile: 'scored', above: 0 }, WAIT);
    await page.waitForFunction(shows, { tile: 'p99', above: 0 }, WAIT);
    await page.waitForFunction(refusals, 'keyInvalid', WAIT);
    await page.waitForSelector('#diagnosis.red', WAIT);
    t.match(await page.getAttribute('#charts canvas', 'aria-label'), /Throughput.*scored \d/);
    t.ok(await page.locator('.shown').first().isVisible());
    await page.waitForSelector('#shadow:not([hidden])', WAIT);
    t.equal(await page.locator('#shadow-scores tbody tr').count(), 5);
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
  const sample = page.locator('details', { has: page.getByText('TypeScript', { exact: true }) });
  await sample.locator('summary').click();
  t.match(await sample.locator('pre').innerText(), 'AcuityClient.fromEnvironment');
  const ground = await page.evaluate(() => getComputedStyle(globalThis.document.body).backgroundColor);
  t.equal(ground, look.scheme === 'dark' ? 'rgb(16, 20, 27)' : 'rgb(244, 245, 248)');
  t.strictSame(await seriousFindings(page), []);
  t.strictSame([...elsewhere, ...complaints], []);
}

/** Pages that are files: they have to read well on a phone too. */
async function tunePage(t: Test, browser: Browser): Promise<void> {
  const url = pathToFileURL(join(t.testdir({ 'tune.html': pageFor(FINDINGS) }), 'tune.html')).href;
  for (const look of LOOKS) {
    const opened = await openPage(t, browser, { url, look });
    const cut = await opened.page.evaluate(() =>
      [...globalThis.document.querySelectorAll('.wide')]
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(({ textContent }) => textContent),
    );
    t.strictSame(cut, [], 'tables wrap');
    await isSound(t, opened, look.width);
  }
}

/** Sends requests, some of them without a good key, until what is returned is called. */
function untilStopped({ port, key }: RunningServer): () => Promise<void> {
  const stop = new AbortController();
  const body = JSON.stringify(requestBody(0));
  const caller = async (key: string): Promise<void> => {
    while (!stop.signal.aborted) {
      await send(port, { headers: { 'X-API-Key': key }, body });
      await pause(20);
    }
  };
  const callers = [caller(key), caller('sk_live_nonsense')];
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
