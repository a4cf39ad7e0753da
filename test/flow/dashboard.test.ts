/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, send, sendOn } from '../fixtures/connection.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

/** The live page in a real browser, over a real server. */

const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const WAIT = { timeout: 60_000 };
const CHARTS = 6;

interface Look {
  readonly width: number;
  readonly scheme: 'light' | 'dark';
}

const LOOKS: readonly Look[] = [
  { width: 1280, scheme: 'light' },
  { width: 400, scheme: 'dark' },
];

t.test('the live page', { skip: BROWSER === undefined && 'there is no Chromium here' }, async (t) => {
  const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
  for (const look of LOOKS) {
    await t.test(`${look.width} px wide, ${look.scheme}`, async (t) => {
      const { page, complaints, elsewhere } = await open(t, server, look);
      await t.test('draws', async (t) => {
        await page.waitForSelector('#status.good', WAIT);
        t.equal(await page.textContent('#status'), 'ready');
        t.equal(await page.locator('#charts canvas').count(), CHARTS);
        t.equal(await page.locator('#tiles dd').count(), 12);
        t.match(await page.textContent('#model'), /^[\w-]+\/\d+\.\d+\.\d+/);
        t.match(await page.textContent('#settings'), /ACUITY_QUEUE_MAX\s*2048/);
        t.match(await page.textContent('#red'), 'Nothing is red.');
      });
      await t.test('moves under load', async (t) => {
        const ended = untilStopped(server);
        await page.waitForFunction(shows, { tile: 'scored', above: 0 }, WAIT);
        await page.waitForFunction(shows, { tile: 'p99', above: 0 }, WAIT);
        await page.waitForFunction(refusals, 'keyInvalid', WAIT);
        await page.waitForFunction(isInked, undefined, WAIT);
        t.match(await page.getAttribute('#charts canvas', 'aria-label'), /Throughput.*scored [1-9]/);
        await ended();
        await page.waitForFunction(shows, { tile: 'scored', above: -1 }, WAIT);
      });
      await t.test('fits, reads well, asks nobody else and complains of nothing', async (t) => {
        const { wide, small } = await page.evaluate(legibility);
        t.equal(wide, look.width, 'nothing to scroll sideways');
        t.strictSame(small, [], 'no text below 11 px');
        t.ok((await page.evaluate(contrast)) >= 4.5, 'contrast of text and ground');
        t.strictSame(elsewhere, []);
        t.strictSame(complaints, []);
      });
    });
  }
  await t.test('says so when the server goes, and comes back', async (t) => {
    const { page } = await open(t, server, { width: 1280, scheme: 'light' });
    await page.waitForSelector('#status.good', WAIT);
    server.signal('SIGTERM');
    await page.waitForSelector('#status.waiting, #status.bad', WAIT);
    t.match(await page.textContent('#status'), /no connection|not ready/);
  });
});

async function open(
  t: Test,
  { adminPort }: RunningServer,
  { width, scheme }: Look,
): Promise<{ page: Page; complaints: string[]; elsewhere: string[] }> {
  const profile = mkdtempSync(join(tmpdir(), 'acuity-chromium-'));
  const browser: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath: BROWSER ?? '',
    args: FLAGS,
    viewport: { width, height: 900 },
    colorScheme: scheme,
  });
  t.teardown(async () => {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  });
  const page = await browser.newPage();
  const complaints: string[] = [];
  const elsewhere: string[] = [];
  const origin = `http://127.0.0.1:${adminPort}/`;
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(request.url()));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:'))
      elsewhere.push(request.url());
  });
  await page.goto(origin);
  return { page, complaints, elsewhere };
}

/** Sends requests, some of them without a good key, until what is returned is called. */
function untilStopped({ port, key }: RunningServer): () => Promise<void> {
  const stop = new AbortController();
  const body = JSON.stringify(requestBody(0));
  const caller = async (): Promise<void> => {
    const connection = await Connection.open(port);
    while (!stop.signal.aborted) await sendOn(connection, { headers: { 'X-API-Key': key }, body });
    connection.destroy();
  };
  const stranger = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await send(port, { headers: { 'X-API-Key': 'sk_live_nonsense' }, body });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const callers = [caller(), caller(), stranger()];
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
  return Number(row?.querySelectorAll('td')[3]?.textContent) > 0;
}

function legibility(): { wide: number; small: string[] } {
  const small = [...globalThis.document.querySelectorAll('body *')]
    .filter((one) =>
      [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim() !== ''),
    )
    .filter((one) => parseFloat(getComputedStyle(one).fontSize) < 11)
    .map((one) => `${one.tagName} ${one.textContent}`);
  return { wide: globalThis.document.documentElement.scrollWidth, small };
}

/** The least contrast (WCAG 2) of the page's text colours on cards and ground. */
function contrast(): number {
  const luminance = (color: string): number => {
    const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const of = (selector: string, property: 'color' | 'backgroundColor'): number => {
    const found = globalThis.document.querySelector(selector);
    if (found === null) throw new Error(`nothing is ${selector}`);
    return luminance(getComputedStyle(found)[property]);
  };
  const texts = ['body', 'dt', '#tiles small', '#status', 'a'].map((selector) => of(selector, 'color'));
  const grounds = [of('body', 'backgroundColor'), of('#tiles div', 'backgroundColor')];
  const ratios = texts.flatMap((text) =>
    grounds.map((ground) => (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)),
  );
  return Math.min(...ratios);
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
