import { join } from 'node:path';
import t from 'tap';
import { dateOf } from '#acuity/base/days.js';
import { DESK, PHONE, WITHOUT_BROWSER, openBrowser, openPage } from '#fixtures/browser.js';
import { acuity } from '#fixtures/scripts.js';
import { bodiesOf } from '#fixtures/tables.js';

t.test('the page fits a phone and says first what the text says', { skip: WITHOUT_BROWSER }, async (t) => {
  const rows = Array.from({ length: 150 }, (_, index) => ({
    person: `p${index % 25}`,
    night: dateOf(20_000 + Math.floor(index / 25)),
    HR_night: [50 + (index % 17), 55 + (index % 13)],
    rested: index % 7,
  }));
  const dir = t.testdir({ 'n.ndjson': bodiesOf(rows) });
  const html = join(dir, 'page.html');
  const asked = ['--person', 'person', '--order', 'night', '--outcome', 'rested:attention', '--html', html];
  const { stdout } = await acuity(['judge', join(dir, 'n.ndjson'), ...asked]);
  const browser = await openBrowser(t);
  for (const look of [DESK, PHONE]) {
    const { page: shown, complaints } = await openPage(t, browser, { url: `file://${html}`, look });
    t.equal(await shown.locator('.lead').textContent(), stdout.split('\n')[0]);
    const width = await shown.evaluate(() => document.documentElement.scrollWidth);
    t.equal(width, look.width, 'no sideways scrolling');
    t.strictSame(complaints, []);
  }
});
