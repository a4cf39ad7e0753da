import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import t from 'tap';
import { adminDocs } from '#acuity/admin/referencePage.js';
import { startServer } from '../fixtures/server.js';

t.test('the reference page may load nothing from elsewhere, and no other path is its own', async (t) => {
  const policy = adminDocs('/docs')?.headers['Content-Security-Policy'];
  t.match(policy, /^default-src 'none'/);
  t.notMatch(policy, /https?:|\*/);
  for (const path of ['/', '/docs/', '/docs/../package.json', '/openapi'])
    t.equal(adminDocs(path), undefined);
});

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const browserPath = BROWSERS.find(existsSync);
const skip = browserPath === undefined ? 'there is no Chromium here' : false;

t.test('the reference page in a browser', { skip, timeout: 120_000 }, async (t) => {
  const server = await startServer(t);
  // Playwright gives each launch a user data folder of its own.
  const browser = await chromium.launch({
    executablePath: browserPath ?? '',
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => asked.push(request.url().replace(/^blob:/, '')));
  const origin = `http://127.0.0.1:${server.adminPort}`;
  await page.goto(`${origin}/docs`);
  await page.waitForSelector('h2:has-text("Score one session")', { timeout: 60_000 });

  await t.test('it shows the operation, its fields and its answers', async (t) => {
    const text = await page.innerText('body');
    for (const word of [
      '/predict',
      'X-Request-Id',
      'current_session',
      'past_targets',
      'past_target',
      '429',
      '503',
    ]) {
      t.match(text, word);
    }
  });

  await t.test('its console is clean, and it requests only from the admin port', async (t) => {
    t.strictSame(complaints, []);
    t.match(asked, [`${origin}/docs`, `${origin}/docs/reference.css`]);
    t.strictSame(
      asked.filter((url) => !url.startsWith(`${origin}/`)),
      [],
    );
  });

  await t.test('it can be read on a phone', async (t) => {
    await page.setViewportSize({ width: 390, height: 800 });
    await page.waitForFunction('document.documentElement.scrollWidth <= 390');
    t.ok(await page.isVisible('h2:has-text("Score one session")'));
  });

  await t.test('it can send nothing', async (t) => {
    t.strictSame(await page.$$eval('form, textarea', (found) => found.length), 0);
  });
});
