/** `node scripts/screenshots.js`: draws the pages of the admin listener that the documents show, into docs/images. Needs Chromium. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, endOnError, install, ROOT, StepFailed } from './prepare.js';

const INTO = join(ROOT, 'docs/images');
const VIEWPORT = { width: 1280, height: 860 };
/** Requests per second under load, and how long before the picture, so that the charts have data. */
const RATE = 150;
const LOAD_S = 25;

endOnError();
await install();
await build('all');
const { withPeers } = await import('../.build/bench/server.js');
const { ACUITY } = await import('../.build/bench/peers/catalogue.js');
const { openBrowser, WITHOUT_BROWSER } = await import('../.build/test/fixtures/browser.js');
const { send } = await import('../.build/test/fixtures/connection.js');
const { scoped } = await import('../.build/test/faults/part.js');
const { bodiesOf } = await import('../dist/tune/load/payloads.js');
if (WITHOUT_BROWSER !== false) throw new StepFailed(WITHOUT_BROWSER);
await scoped(async (scope) => {
  const browser = await openBrowser(scope);
  await withPeers([ACUITY], ([running]) => draw(browser, running));
});

async function draw(browser, { server, target }) {
  const shoot = async (name, { url, ready, colorScheme = 'light', act = () => undefined }) => {
    const page = await browser.newPage({ viewport: VIEWPORT, colorScheme });
    await page.goto(url);
    await page.waitForSelector(ready, { timeout: 60_000 });
    await act(page);
    await sleep(1500); // the charts have been redrawn since
    await page.screenshot({ path: join(INTO, `${name}.png`) });
    await page.close();
    console.log(name);
  };
  const url = `http://127.0.0.1:${server.adminPort}/`;
  await underLoad(target, () => shoot('dashboard', { url, ready: '#tiles dd' }));
  const page = { url: `${url}try`, ready: '#scores .range', act: chooseShortNight };
  await shoot('try', page);
  await shoot('try-dark', { ...page, colorScheme: 'dark' });
}

/** On the page `/try`: a short night, whose scores say so. */
async function chooseShortNight(page) {
  await page.click('text=Short night');
  await page.click('[data-score=attention]');
  await page.mouse.move(0, 0);
  await page.evaluate(() => document.activeElement.blur());
  await page.evaluate(() => scrollTo(0, 0));
}

/** Sends at a fixed rate while `use` runs, which starts once the charts have data. */
async function underLoad({ port, key }, use) {
  const [body] = bodiesOf('history', 1);
  const sending = setInterval(() => send(port, { headers: { 'X-API-Key': key }, body }), 1000 / RATE);
  await sleep(LOAD_S * 1000);
  await use();
  clearInterval(sending);
}
