/// <reference lib="dom" />
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { NORMS } from '#acuity/norms/norms.js';
import { DESK, openBrowser, openPage, WITHOUT_BROWSER } from '../fixtures/browser.js';
import { REPOSITORY } from '../fixtures/repository.js';

/** The reaction test of examples/backend in a browser, pressed by a script that keeps times of its own. */

const PAGES = join(REPOSITORY, 'examples/backend/pages');
const PATH = '/people/a/reaction';

interface Result {
  readonly age: number;
  readonly sex: string | null;
  readonly on: string;
  readonly reactionsMs: readonly number[];
}

/** Serves the page alone; what it sends comes back as a promise. */
async function serve(t: Test): Promise<{ address: string; sent: Promise<Result> }> {
  let take: (result: Result) => void;
  const sent = new Promise<Result>((resolve) => (take = resolve));
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      let body = '';
      request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      request.on('end', () => {
        take(JSON.parse(body) as Result);
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"told":"Kept."}');
      });
    } else if (request.url === '/reaction.js') {
      response.writeHead(200, { 'Content-Type': 'text/javascript' });
      response.end(readFileSync(join(PAGES, 'reaction.js')));
    } else if (request.url === PATH) {
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end(readFileSync(join(PAGES, 'reaction.html')));
    } else response.writeHead(200, { 'Content-Type': 'text/css' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}${PATH}`, sent };
}

async function open(t: Test, address: string): Promise<Page> {
  const { page } = await openPage(t, await openBrowser(t), { url: address, look: DESK });
  await page.fill('#age', '25');
  await page.selectOption('#sex', 'F');
  return page;
}

/** Makes the test short: so many seconds of signals that come at once. */
function shorten(page: Page, seconds: number): Promise<void> {
  return page.evaluate((seconds) => {
    const { dataset } = document.querySelector<HTMLElement>('#test') ?? document.body;
    Object.assign(dataset, { seconds, leastWaitMs: 20, mostWaitMs: 60 });
  }, seconds);
}

t.test(
  'a reaction equals the time of a scripted press, to the millisecond',
  { skip: WITHOUT_BROWSER },
  async (t) => {
    const { address, sent } = await serve(t);
    const page = await open(t, address);
    await shorten(page, 5);
    // The script sees the signal by itself: the first frame after the one in which the field turned.
    await page.evaluate(() => {
      const field = document.querySelector('#field');
      const pressed: number[] = [];
      Object.assign(globalThis, { pressed });
      const delays = [120, 250, 250, 400];
      new MutationObserver(() => {
        if (field?.getAttribute('data-state') !== 'on') return;
        requestAnimationFrame((shownMs) => {
          setTimeout(
            () => {
              const event = new KeyboardEvent('keydown', { code: 'Space', bubbles: true });
              pressed.push(event.timeStamp - shownMs);
              document.dispatchEvent(event);
            },
            delays[pressed.length % delays.length],
          );
        });
      }).observe(field ?? document, { attributes: true, attributeFilter: ['data-state'] });
    });
    await page.click('button.act');
    const { reactionsMs, ...about } = await sent;
    const pressed = await page.evaluate(() => (globalThis as unknown as { pressed: number[] }).pressed);
    t.match(about, { age: 25, sex: 'F', on: /^\d{4}-\d\d-\d\d$/ });
    t.ok(reactionsMs.length > 4, `${reactionsMs.length} reactions`);
    t.equal(reactionsMs.length, pressed.length);
    for (const [index, ms] of reactionsMs.entries()) {
      const apart = Math.abs(ms - (pressed[index] ?? NaN));
      t.ok(apart <= 1, `${ms} ms measured, ${pressed[index]} ms pressed`);
    }
    t.ok(Math.min(...reactionsMs) >= 119, 'no reaction is shorter than the shortest delay');
    t.match(await page.textContent('#told'), /^\d+ reactions, 0 presses too early\. Kept\.$/);
  },
);

t.test(
  'an age without a norm is reported before the three minutes of the test',
  { skip: WITHOUT_BROWSER },
  async (t) => {
    const { address } = await serve(t);
    const page = await open(t, address);
    const spans = await page.getAttribute('#test', 'data-ages');
    t.equal(
      spans,
      NORMS.get('vigilance_speed')
        ?.ages.map(({ from, to }) => `${from}-${to}`)
        .join(' '),
    );
    await page.fill('#age', '45');
    await page.click('button.act');
    t.match(await page.textContent('#told'), /norms for ages 20 to 30 and 65 to 75 alone/);
    t.equal(await page.isVisible('#field'), false);
  },
);
