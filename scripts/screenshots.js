/**
 * `node scripts/screenshots.js`: draws the pages of the admin listener in each state into docs/images: those that the
 * documents show, or with `--all` every state in every look. Given HTML files (a page of `acuity tune`), draws those
 * instead, into the folder that `--into` names. Needs Chromium.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build, failWith, install, ROOT } from './prepare.js';

const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'];
/** Name, width, colours. */
const LOOKS = [
  { look: 'light', width: 1280, height: 860, colorScheme: 'light' },
  { look: 'dark', width: 1280, height: 860, colorScheme: 'dark' },
  { look: 'phone', width: 390, height: 780, colorScheme: 'light' },
  { look: 'phone-dark', width: 390, height: 780, colorScheme: 'dark' },
];
/** The images that documents show. */
const SHOWN = [
  'dashboard-idle-light',
  'dashboard-light',
  'dashboard-red-dark',
  'dashboard-red-phone',
  'reference-light',
  'reference-dark',
  'try-light',
  'try-dark',
  'try-phone',
];
/** Requests per second under load, and how long before the picture, so that the charts have data. */
const RATE = 150;
const LOAD_S = 25;
/** Longest time to draw a page in all its looks, while the load continues. */
const DRAWING_S = 20;

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      into: { type: 'string', default: join(ROOT, 'docs/images') },
      all: { type: 'boolean', default: false },
    },
  });
  if (BROWSER === undefined) throw new Error('there is no Chromium here');
  await install();
  await build('src');
  const into = resolve(values.into);
  mkdirSync(into, { recursive: true });
  await (positionals.length > 0
    ? drawFiles(positionals, into)
    : drawAdmin(into, values.all ? () => true : (name) => SHOWN.includes(name)));
} catch (error) {
  failWith(error);
}

async function drawFiles(files, into) {
  await withBrowser(
    () => true,
    async (shoot) => {
      for (const file of files) {
        const url = pathToFileURL(resolve(file)).href;
        await shoot({ url, name: basename(file, '.html'), into, isFull: true });
      }
    },
  );
}

async function drawAdmin(into, isWanted) {
  const folder = mkdtempSync(join(tmpdir(), 'acuity-screenshots-'));
  try {
    const { key, server } = await serve(folder);
    try {
      const url = `http://127.0.0.1:${server.adminPort}/`;
      await withBrowser(isWanted, async (shoot) => {
        await shoot({ url, name: 'dashboard-idle', into, ready: '#diagnosis.calm' });
        await underLoad(server.port, [key], () =>
          shoot({ url, name: 'dashboard', into, ready: '#tiles dd' }),
        );
        await underLoad(server.port, [key, 'sk_live_nonsense'], () =>
          shoot({ url, name: 'dashboard-red', into, ready: '#diagnosis.red' }),
        );
        await shoot({ url: `${url}docs`, name: 'reference', into, ready: '#schemas' });
        await shoot({ url: `${url}try`, name: 'try', into, ready: '#scores .range', act: liveAWeek });
      });
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Calls `use` with a function that draws one page in every selected look. */
async function withBrowser(isWanted, use) {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: BROWSER, args: FLAGS });
  try {
    await use(async ({ url, name, into, ready, act = () => undefined, isFull = false }) => {
      for (const { look, width, height, colorScheme } of LOOKS) {
        if (!isWanted(`${name}-${look}`)) continue;
        const page = await browser.newPage({ viewport: { width, height }, colorScheme });
        await page.goto(url);
        if (ready !== undefined) await page.waitForSelector(ready, { timeout: 60_000 });
        await act(page);
        await sleep(1500); // the charts have been redrawn since
        const file = name === 'try' && look === 'light' ? 'try.png' : `${name}-${look}.png`;
        await page.screenshot({ path: join(into, file), fullPage: isFull });
        await page.close();
        console.log(file);
      }
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
  await page.evaluate(() => {
    document.activeElement.blur();
    scrollTo(0, 0);
  });
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
  return {
    key,
    server: await startChildServer({ name: 'server', file: process.execPath, args, env }, folder),
  };
}

/** Sends at a fixed rate with each key while `use` runs, which starts once the charts have data. */
async function underLoad(port, keys, use) {
  const { bodiesOf } = await import('../dist/load/payloads.js');
  const { runOpenLoop } = await import('../dist/load/openLoop.js');
  const load = { bodies: bodiesOf('history', 1), connections: 16, seconds: LOAD_S + DRAWING_S, rate: RATE };
  const sending = keys.map((key) => runOpenLoop({ ...load, target: { port, key } }));
  await sleep(LOAD_S * 1000);
  await use();
  await Promise.all(sending);
}
