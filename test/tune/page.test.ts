import t from 'tap';
import { htmlTable, pageOf } from '#acuity/tune/page.js';
import { blockOf, pageFor } from '#acuity/tune/report.js';
import { FINDINGS } from '../fixtures/pageSamples.js';

t.test('a page loads nothing and runs nothing', async (t) => {
  const html = pageOf({
    title: 'A',
    subtitle: 'b',
    sections: [{ heading: 'H', note: 'n', html: '<p>x</p>' }],
  });
  t.notMatch(html, /https?:|<script|<link|<img|@import|url\(/);
  t.match(html, /default-src 'none'/);
  t.match(html, /prefers-color-scheme:dark/);
  t.match(html, /name="viewport"/);
});

t.test('text stays text', async (t) => {
  const html = pageOf({
    title: '<b>',
    subtitle: '"&',
    sections: [{ heading: '<i>', html: htmlTable([['<td>'], ['&']]) }],
  });
  t.notMatch(html, /<b>|<i>|<td><td>/);
  t.match(html, '<title>&#60;b&#62;</title>');
  t.match(html, '<td>&#38;</td>');
});

const KEPT = {
  ...FINDINGS,
  verdict: {
    ...FINDINGS.verdict,
    recommends: 'defaults',
    sentence: 'The defaults are better in every pair.',
  },
} as const;

t.test('the block can be pasted as it is: settings, and the rest after #', async (t) => {
  for (const findings of [FINDINGS, KEPT]) {
    const lines = blockOf(findings).split('\n');
    t.ok(
      lines.every((line) => /^# \S|^ACUITY_[A-Z_]+=\d+$/.test(line)),
      lines.join('\n'),
    );
  }
  t.match(blockOf(FINDINGS), /^# acuity tune: Better than the defaults/);
  t.match(blockOf(FINDINGS), /^ACUITY_HTTP_THREADS=2$/m, 'what is better');
  t.match(blockOf(KEPT), /^ACUITY_HTTP_THREADS=1$/m, 'the defaults, where they are');
});

t.test('the page has the same block, and calls the better setting better', async (t) => {
  const found = pageFor(FINDINGS);
  t.match(found, '<pre># acuity tune: Better than the defaults in every pair.\n');
  t.match(found, '<th class="good">found: better</th><th>defaults</th>');
  const kept = pageFor(KEPT);
  t.match(kept, '<th>found</th><th class="good">defaults: recommended</th>');
  t.match(kept, '<td>1 loop, 1 worker × 1 thread, batch 32</td><td>1</td><td>100</td>', 'what was tried');
  t.notMatch(found + kept, /winner/);
});
