/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { requestBody } from '../fixtures/bodies.js';
import {
  DESK,
  isSound,
  openBrowser,
  openPage,
  PHONE,
  staysInside,
  WAIT,
  WITHOUT_BROWSER,
} from '../fixtures/browser.js';
import { send } from '../fixtures/connection.js';
import { MODEL } from '../fixtures/model.js';
import { startEvent } from '../fixtures/promtool.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

/** The pages of the admin listener in a real browser over a real server. */

const CHARTS = 9;
const LOOKS = [DESK, PHONE];
const SCORES = ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'] as const;
type Answer = Readonly<Record<(typeof SCORES)[number], number | string>> & {
  readonly explanation: { readonly against: string; readonly quality: { readonly sessions: number } };
  readonly unmeasured?: object;
};

/** Does something, and waits for the next scores. */
type After = (act: () => Promise<unknown>) => Promise<Answer>;

function watch(page: Page): After {
  return async (act) => {
    const [response] = await Promise.all([
      page.waitForResponse((one) => one.url().endsWith('/try/score') && one.status() === 200, WAIT),
      act(),
    ]);
    const answer = (await response.json()) as Answer;
    const shown = String(Math.round(Number(answer.attention)));
    await page.waitForSelector(`[data-score=attention] b:text-is("${shown}")`, WAIT);
    return answer;
  };
}

const WORKS: Readonly<Record<string, (t: Test, page: Page, after: After) => Promise<void>>> = {
  async 'sliders and examples move the scores, and say why'(t, page, after) {
    const slider = page.locator('#slider-nightHeart');
    const calm = await after(() => slider.fill('50'));
    const fast = await after(() => slider.fill('80'));
    t.ok(Number(fast.stress) > Number(calm.stress));
    const ordinary = await after(() => page.click('text=Ordinary night'));
    const short = await after(() => page.click('text=Short night'));
    t.ok(Number(short.attention) < Number(ordinary.attention));
    await page.click('[data-score=attention]');
    t.match(await page.textContent('#sentences'), /^Attention is \d+, .*amount of sleep/);
    t.equal(await page.locator('#contributors .part:not(.sum)').count(), 6);
    const tenths = (text: string): number => Math.round(10 * Number(text.replace('−', '-')));
    const parts = await page.locator('#contributors .part:not(.sum) .points').allInnerTexts();
    const sum = tenths(await page.locator('#contributors .sum .points').innerText());
    const total = parts.reduce((before, one) => before + tenths(one), 0);
    t.equal(total, sum, 'the six add up to the change');
    t.equal(tenths(await page.locator('[data-score=attention] small').innerText()), sum);
    t.match(await page.locator('[data-score=attention] b').innerText(), /^\d+$/, 'a score has whole points');
    t.strictSame(await page.locator('#scores .marks span').allInnerTexts(), ['0', '50', '100']);
    t.match(await page.textContent('#disclaimer'), 'no diagnosis');
  },
  async 'sleep stages are moved with the keyboard, and the rest is light sleep'(t, page, after) {
    const deep = page.getByRole('slider', { name: 'Deep sleep' });
    await deep.focus();
    const before = Number(await deep.inputValue());
    await after(() => page.keyboard.press('ArrowRight'));
    t.equal(Number(await deep.inputValue()), before + 1);
    await after(() => page.keyboard.press('Home'));
    t.equal(await deep.getAttribute('aria-valuetext'), '0 min');
    t.match(await page.textContent('#sleep'), /^Asleep \d h .* of it \d h .* light\.$/);
  },
  async 'nights become a history'(t, page, after) {
    const alone = await after(() => page.click('text=Ordinary night'));
    t.equal(alone.explanation.against, 'typical');
    const second = await after(() => page.click('#next'));
    t.match(second.explanation, { against: 'last nights', quality: { sessions: 1 } });
    await page.click('#week');
    await page.waitForSelector('#past:text-matches("^8 nights")', WAIT);
    await page.waitForSelector('#next:enabled', WAIT);
    const ninth = await after(() => page.click('text=Short night'));
    t.equal(ninth.explanation.quality.sessions, 5);
    const again = await after(() => page.click('#forget'));
    t.equal(again.explanation.against, 'typical');
  },
  async 'a test result moves its score, and stays in the history'(t, page, after) {
    const before = await after(() => page.click('text=Ordinary night'));
    await page.locator('#slider-percentile').fill('90');
    const tested = await after(() => page.click('#add'));
    t.ok(Number(tested.attention) > Number(before.attention) + 5);
    t.match(tested, { memory: before.memory, unmeasured: { attention: before.attention } });
    t.ok((await after(() => page.click('#next'))).unmeasured, 'the history has it');
    await after(() => page.click('#forget'));
    await after(() => page.click('#add'));
    t.equal((await after(() => page.click('#results button'))).unmeasured, undefined);
  },
  async 'a night as a provider sent it'(t, page, after) {
    await page.getByRole('tab', { name: 'Paste' }).click();
    t.equal(await page.locator('#compose').isVisible(), false);
    for (const provider of ['samsung_health', 'whoop', 'oura']) {
      await page.selectOption('#provider', provider);
      await after(() => page.click('#example'));
      t.match(await page.textContent('#found'), 'The night of 2026-03-02, 23:00 to 07:00 (UTC+01:00)');
      t.match(await page.textContent('#left-title'), 'All that was sent was used.');
    }
    await page.fill('#pasted', '{"data":');
    await page.click('#read');
    t.match(await page.textContent('#unread'), /^Error: this is no JSON/);
    t.equal(await page.getAttribute('#pasted', 'aria-invalid'), 'true');
    await page.keyboard.press('Escape');
    await page.locator('#tab-paste').press('ArrowLeft');
    t.ok(await page.locator('#slider-deep').isDisabled());
    t.match(await page.innerText('#compose .off'), 'so these sliders are off');
    await staysInside(t, page);
    await after(() => page.click('#sliders'));
    t.equal(await page.locator('#recorded').isVisible(), false);
    t.ok(await page.locator('#slider-deep').isEnabled());
  },
  async 'a refusal is an error, and takes the old scores away'(t, page, after) {
    await page.click('#tab-paste');
    await page.fill('#pasted', '{"current_session":{"age":1000}}');
    await page.click('#read');
    await page.waitForSelector('#problem.red', WAIT);
    t.match(await page.textContent('#problem'), /^Error: .*less than or equal/);
    t.strictSame(await page.locator('#scores b').allInnerTexts(), Array<string>(5).fill('–'));
    t.equal(await page.innerText('#sentences'), '');
    await page.click('#tab-compose');
    await after(() => page.click('#sliders'));
    t.equal(await page.locator('#problem').isVisible(), false);
  },
  async 'it reports that the service does not answer'(t, page) {
    await page.route('**/try/score', (route) =>
      route.fulfill({ status: 503, body: '{"detail":"Service overloaded"}' }),
    );
    await page.click('text=Fever');
    await page.waitForSelector('#problem:visible', WAIT);
    t.match(await page.textContent('#problem'), 'its callers come first');
    await page.unroute('**/try/score');
    await page.waitForSelector('#problem', { state: 'hidden', ...WAIT });
  },
};

t.test('the pages', { skip: WITHOUT_BROWSER }, async (t) => {
  const shadow = { ACUITY_SHADOW_MODEL: MODEL, ACUITY_SHADOW_SHARE: '1' };
  const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'trace', ...shadow } });
  const browser = await openBrowser(t);
  const opening = (t: Test, path: string, look = DESK) =>
    openPage(t, browser, { url: `http://127.0.0.1:${server.adminPort}${path}`, look });

  for (const look of LOOKS) {
    await t.test(`/try, ${look.width} px wide, ${look.scheme}`, async (t) => {
      const opened = await opening(t, '/try', look);
      await opened.page.waitForSelector('#scores .range', WAIT);
      await isSound(t, opened, look.width);
      for (const [name, work] of Object.entries(look === DESK ? WORKS : {}))
        await t.test(name, (t) => work(t, opened.page, watch(opened.page)));
      if (look === DESK)
        await t.test('what it copies runs, and says the same', (t) => copies(t, opened.page, server));
    });
    await t.test(`the live page, ${look.width} px wide, ${look.scheme}`, async (t) => {
      const opened = await opening(t, '/', look);
      await isLive(t, opened.page, server);
      for (const details of await opened.page.locator('details').all())
        await details.evaluate((one) => one.setAttribute('open', ''));
      await isSound(t, opened, look.width);
    });
    await t.test(`the reference, ${look.width} px wide, ${look.scheme}`, async (t) => {
      const opened = await opening(t, '/docs', look);
      t.equal(await opened.page.locator('main h2').first().innerText(), 'Score one session');
      t.match(await opened.page.locator('.samples pre:visible').innerText(), /^export ACUITY_URL/);
      const { height = 0 } = (await opened.page.locator('.contents').boundingBox()) ?? {};
      t.equal(height > 200, look === DESK, 'the contents stand at the side where there is room');
      const title = opened.page.getByText('TypeScript', { exact: true });
      const sample = opened.page.locator('details', { has: title });
      await sample.locator('summary').click();
      t.match(await sample.locator('pre').innerText(), 'AcuityClient.fromEnvironment');
      for (const details of await opened.page.locator('details:not([name])').all())
        await details.evaluate((one) => one.setAttribute('open', ''));
      await isSound(t, opened, look.width);
      await opened.page.click('a[href="try#example=oura"]');
      await opened.page.waitForFunction(
        () => globalThis.document.querySelector<HTMLTextAreaElement>('#pasted')?.value !== '',
        undefined,
        WAIT,
      );
      t.match(await opened.page.inputValue('#pasted'), '"current_session"', 'the example is filled in');
    });
  }
  await t.test(
    'the live page judges five seconds, and one slow first request flattens nothing',
    async (t) => {
      const start = await startEvent<Record<'points' | 'stages', readonly object[]>>(server.adminPort);
      const points = Array.from({ length: 12 }, (_, index) => ({
        ...start.points.at(-1),
        atMs: Date.now() - (12 - index) * 1000,
        served: index,
        p99Ms: index === 11 ? 900 : 2,
        stagesMs: start.stages.map(() => (index === 0 ? 100 : 0.5)),
      }));
      const page = await browser.newPage({ viewport: { width: DESK.width, height: 800 } });
      t.teardown(() => page.close());
      const body = `event: start\ndata: ${JSON.stringify({ ...start, points })}\n\n`;
      await page.route('**/events', (route) => route.fulfill({ contentType: 'text/event-stream', body }));
      await page.goto(`http://127.0.0.1:${server.adminPort}/`, WAIT);
      await page.waitForSelector('#charts figure', WAIT);
      const tile = (name: string) => page.innerText(`#tiles div:has(dt:text-is("${name}")) dd span`);
      t.equal(await page.innerText('#now-title'), 'The last 5 seconds');
      t.strictSame([await tile('scored'), await tile('p99')], ['9', '2'], 'mean of rates, median of p99');
      t.match(await page.locator('figcaption', { hasText: 'Time by stage' }).innerText(), 'cut: highest 600');
      const heights = await page
        .locator('#charts figure')
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
      t.equal(new Set(heights).size, 1, 'equal cards');
    },
  );
  await t.test('the live page reports that the server has gone', async (t) => {
    const { page } = await opening(t, '/');
    await page.waitForSelector('#status.calm', WAIT);
    server.signal('SIGTERM');
    await page.waitForSelector('#status.amber, #status.red', WAIT);
    await page.waitForSelector('#sentence:not(:text-matches("^All is well"))', WAIT);
    t.notMatch(server.output(), /current_session|HR_night|acu1\./, 'nothing of what was tried is logged');
  });
});

/** The live page under load, some of it without a good key. */
async function isLive(t: Test, page: Page, { port, key }: RunningServer): Promise<void> {
  await page.waitForSelector('#status.calm', WAIT);
  t.equal(await page.locator('#charts canvas').count(), CHARTS);
  t.match(await page.textContent('#model'), /^[\w-]+\/\d+\.\d+\.\d+/);
  t.ok(await page.locator('#defaults tr', { hasText: 'ACUITY_QUEUE_MAX' }).isHidden(), 'defaults are folded');
  t.match(await page.textContent('#settings'), /ACUITY_DEADLINE_MS\s*30000/, 'what was set is shown');
  const stop = new AbortController();
  const body = JSON.stringify(requestBody(0));
  const callers = [key, 'sk_live_nonsense'].map(async (key) => {
    while (!stop.signal.aborted) {
      await send(port, { headers: { 'X-API-Key': key }, body });
      await pause(20);
    }
  });
  for (const tile of ['scored', 'p99']) await page.waitForFunction(shows, tile, WAIT);
  await page.waitForFunction(refusals, 'keyInvalid', WAIT);
  for (const part of ['#diagnosis.red', '#shadow:not([hidden])']) await page.waitForSelector(part, WAIT);
  t.match(await page.getAttribute('#charts canvas', 'aria-label'), /Throughput.*scored \d/);
  t.ok(await page.locator('.shown').first().isVisible());
  t.equal(await page.locator('#shadow-scores tbody tr').count(), 5);
  stop.abort();
  await Promise.all(callers);
}

async function copies(t: Test, page: Page, server: RunningServer): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const after = watch(page);
  await after(() => page.click('#next'));
  await after(() => page.selectOption('#person select', ''));
  const answer = await after(() => page.click('#add'));
  const scores = Object.fromEntries(SCORES.map((name) => [name, answer[name]]));
  const copied = async (label: string): Promise<string> => {
    await page.getByRole('combobox', { name: 'Language' }).selectOption(label);
    await page.click('#copy');
    await page.waitForSelector('text=copied', WAIT);
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const env = cleanEnvironment({
    ...server.known,
    PYTHONPATH: join(REPOSITORY, 'packages/client-python/src'),
  });
  const run = (file: string, args: readonly string[], cwd = REPOSITORY): string => {
    const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', env, cwd });
    t.equal(status, 0, `${stdout}${stderr}`);
    return stdout;
  };
  run('python3', ['packages/client-python/unasync.py']);
  const curl = await copied('curl');
  t.match(curl, `ACUITY_URL=${server.known.ACUITY_URL} `);
  t.match(JSON.parse(run('bash', ['-c', curl.replace('sk_demo_…', server.key)])), scores);

  const exports = { types: './client/entry.d.ts', default: './client/entry.js' };
  const folder = t.testdir({
    'package.json': '{"type":"module"}',
    'copied.ts': await copied('TypeScript'),
    node_modules: { 'acuity-client': { 'package.json': JSON.stringify({ type: 'module', exports }) } },
  });
  symlinkSync(join(REPOSITORY, 'dist/client'), join(folder, 'node_modules/acuity-client/client'));
  const types = `--typeRoots ${join(REPOSITORY, 'node_modules/@types')} --types node`.split(' ');
  const strict = '--strict --module nodenext --target es2022 --skipLibCheck --ignoreConfig'.split(' ');
  const compiler = join(REPOSITORY, 'packages/build-tools/node_modules/typescript/bin/tsc');
  run(process.execPath, [compiler, ...types, ...strict, 'copied.ts'], folder);
  t.equal(run(process.execPath, ['copied.js'], folder).trim(), inspect(scores));

  const python = join(REPOSITORY, '.build/python/bin/python');
  if (spawnSync(python, ['-c', 'import httpx']).status !== 0) return; // test/packages/clientPython.test.ts says so
  const printed = run(python, ['-c', await copied('Python')]);
  for (const [name, value] of Object.entries(scores))
    t.match(printed, new RegExp(`${name}\\W+${String(value)}\\b`), name);
}

t.test('a listener that other machines reach asks for a key', { skip: WITHOUT_BROWSER }, async (t) => {
  const env = { ACUITY_ADMIN_HOST: '0.0.0.0', ACUITY_TRY: 'true', ACUITY_LOG_LEVEL: 'trace' };
  const server = await startServer(t, { env, keys: [{ kind: 'demo', ratePerS: null, dailyMax: 1 }] });
  const url = `http://127.0.0.1:${server.adminPort}/try`;
  const { page } = await openPage(t, await openBrowser(t), { url, look: DESK });
  const key = server.keys[1]?.key ?? '';
  await page.waitForSelector('#key-card:visible', WAIT);
  t.match(await page.textContent('#problem'), 'Enter an API key');
  await page.fill('#key', key);
  await watch(page)(() => page.keyboard.press('Enter'));
  await page.click('text=Short night');
  await page.waitForSelector('#problem:visible', WAIT);
  const problem = await page.textContent('#problem');
  t.match(problem, 'this key, has sent too many', 'it is charged: its day is over');
  t.notMatch(server.output(), key);
});

// What follows runs in the page: it may use nothing from here.

function shows(tile: string): boolean {
  const rows = [...globalThis.document.querySelectorAll('#tiles div')];
  const row = rows.find((one) => one.querySelector('dt')?.textContent === tile);
  return Number(row?.querySelector('dd span')?.textContent?.replaceAll(',', '')) > 0;
}

function refusals(cause: string): boolean {
  const rows = [...globalThis.document.querySelectorAll('#refusals tbody tr')];
  const row = rows.find((one) => one.querySelector('code')?.textContent === cause);
  return Number(row?.querySelectorAll('td')[3]?.textContent?.replaceAll(',', '')) > 0;
}
