/** `node scripts/screenshots.js`: draws the pages of the admin listener that the documents show, into docs/images. Needs Chromium. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, failWith, install, ROOT } from './prepare.js';

const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'];
const INTO = join(ROOT, 'docs/images');
const VIEWPORT = { width: 1280, height: 860 };
/** Requests per second under load, and how long before the picture, so that the charts have data. */
const RATE = 150;
const LOAD_S = 25;
/** Longest time to draw a page in all its looks, while the load continues. */
const DRAWING_S = 20;

try {
  if (BROWSER === undefined) throw new Error('there is no Chromium here');
  await install();
  await build('src');
  await draw();
} catch (error) {
  failWith(error);
}

async function draw() {
  const folder = mkdtempSync(join(tmpdir(), 'acuity-screenshots-'));
  try {
    const { key, server } = await serve(folder);
    const url = `http://127.0.0.1:${server.adminPort}/`;
    try {
      await withBrowser(async (shoot) => {
        await underLoad(server.port, key, () => shoot('dashboard', { url, ready: '#tiles dd' }));
        const page = { url: `${url}try`, ready: '#scores .range', act: liveAWeek };
        await shoot('try', page);
        await shoot('try-dark', { ...page, colorScheme: 'dark' });
      });
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Calls `use` with a function that draws one page. */
async function withBrowser(use) {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: BROWSER, args: FLAGS });
  try {
    await use(async (name, { url, ready, colorScheme = 'light', act = () => undefined }) => {
      const page = await browser.newPage({ viewport: VIEWPORT, colorScheme });
      await page.goto(url);
      await page.waitForSelector(ready, { timeout: 60_000 });
      await act(page);
      await sleep(1500); // the charts have been redrawn since
      await page.screenshot({ path: join(INTO, `${name}.png`) });
      await page.close();
      console.log(name);
    });
  } finally {
    await browser.close();
  }
}

/** On the page `/try`: a short night after seven ordinary ones. */
async function liveAWeek(page) {
  await page.click('#week');
  await page.waitForFunction(() => document.getElementById('past').textContent.startsWith('7 nights'));
  await page.click('text=Short night');
  await page.click('[data-score=attention]');
  await page.mouse.move(0, 0);
  await page.evaluate(() => document.activeElement.blur());
  await page.evaluate(() => scrollTo(0, 0));
}

/** A server with one key without limits. */
async function serve(folder) {
  const { issue } = await import('../dist/auth/lifecycle.js');
  const { storesAt } = await import('../dist/auth/location.js');
  const { startChildServer } = await import('../dist/load/childServer.js');
  const location = `file:${join(folder, 'keys.json')}`;
  const { record, key } = issue({ kind: 'live', ratePerS: null, dailyMax: null }, Date.now());
  await storesAt(location).keys.insert(record);
  const env = { ...process.env, ACUITY_KEYS: location, ACUITY_PORT: '0', ACUITY_ADMIN_PORT: '0' };
  const args = [join(ROOT, 'dist/main.js'), 'serve'];
  const server = await startChildServer({ name: 'server', file: process.execPath, args, env }, folder);
  return { key, server };
}

/** Sends at a fixed rate while `use` runs, which starts once the charts have data. */
async function underLoad(port, key, use) {
  const { default: autocannon } = await import('autocannon');
  const { bodiesOf } = await import('../dist/load/payloads.js');
  const [body] = bodiesOf('history', 1);
  const sending = autocannon({
    url: `http://127.0.0.1:${port}/predict`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body,
    duration: LOAD_S + DRAWING_S,
    overallRate: RATE,
  });
  await sleep(LOAD_S * 1000);
  await use();
  await sending;
}
