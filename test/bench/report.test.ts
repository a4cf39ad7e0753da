import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readOptions, SECTIONS } from '#bench/report/options.js';
import { UsageError } from '#bench/usage.js';
import { otherWork, otherWorkSentence } from '#bench/report/otherWork.js';
import { htmlOf, textOf, withFigures } from '#bench/report/output.js';
import { spreading } from '#bench/report/scaling.js';
import { verdictOf } from '#bench/report/compareSection.js';
import { barOf, short, shorter, svgOf } from '#bench/report/chart.js';
import {
  bodiesOfBytes,
  bodiesWithDecimals,
  bodiesWithPast,
  bodiesWithSamples,
} from '#bench/report/bodies.js';
import { REPORT } from '../fixtures/pageSamples.js';
import { cleanEnvironment, ended, REPOSITORY } from '../fixtures/scripts.js';

const SECTION = {
  name: 'curves',
  heading: 'A <heading>',
  note: 'how to read it',
  charts: [
    {
      name: 'c',
      title: 'A chart',
      kind: 'line',
      x: 'x',
      y: 'y',
      series: [
        {
          name: 's',
          points: [
            [1, 2],
            [10, 3],
          ],
        },
      ],
    },
  ],
  tables: [
    [
      ['x', 'y'],
      ['1', '2|3'],
    ],
  ],
  data: {},
} as const;

t.test('a page of charts loads nothing', async (t) => {
  const html = htmlOf({ subtitle: 'a machine', sections: [SECTION], faults: [] });
  t.notMatch(
    html.replaceAll('xmlns="http://www.w3.org/2000/svg"', ''),
    /https?:|<script|<link|<img|url\((?!#)/,
  );
  t.match(html, /<svg role="img" aria-label="A chart"/);
  t.match(html, 'A &#60;heading&#62;');
});

t.test('a chart has the colours of the reader, not of the library', async (t) => {
  const svg = svgOf(SECTION.charts[0]);
  t.match(svg, 'var(--one)');
  t.match(svg, 'prefers-color-scheme:dark');
  t.notMatch(svg, /#0[1-7]0[1-7]0[1-7]/);
});

t.test('bars show how far repetitions lie apart', async (t) => {
  const [chart] = REPORT.sections[0]?.charts ?? [];
  if (chart === undefined) throw new Error('a chart');
  const lines = (svg: string): number => svg.split('stroke="var(--ink)"').length - 1;
  const without = {
    ...chart,
    series: chart.series.map((one) => ({ ...one, points: one.points.map(([x, y]) => [x, y] as const) })),
  };
  t.equal(lines(svgOf(chart)) - lines(svgOf(without)), 9, 'three lines for each bar with a spread');
  t.match(svgOf(chart), />900</, 'the value stands above');
  t.strictSame(barOf('a', [3, 1, 2]), ['a', 2, { min: 1, max: 3 }]);
  t.ok(Number.isNaN(barOf('a', [])[1]));
});

t.test('what falls short is coloured, and a machine with other work is said first', async (t) => {
  const html = htmlOf(REPORT);
  t.match(html, '<td class="bad">falls short</td>');
  t.match(html, '<td class="good">holds</td>');
  t.match(html, /<h1>[^<]*<\/h1><p class="lead bad">The machine had other work/);
  t.match(textOf(REPORT), /^The machine had other work/);
  t.match(htmlOf({ ...REPORT, busy: undefined }), '<p class="lead good">The machine had nothing else to do.');
});

t.test('other work is told from its share of the cores', async (t) => {
  t.equal(otherWorkSentence(0.02, 0.05), undefined);
  t.match(otherWorkSentence(0.4, 0.05), /^The machine had other work: 40 % of its cores were busy before/);
  const share = await otherWork(50);
  t.ok(share >= 0 && share <= 1, String(share));
});

t.test('faults are said on the page', async (t) => {
  t.match(htmlOf({ subtitle: '', sections: [], faults: ['3 wrong'] }), /NOT TO BE USED/);
});

t.test('figures of a document are replaced within their marks only', async (t) => {
  const text = 'before\n<!-- figures: npm run bench (curves) -->\nold\n<!-- /figures -->\nafter';
  const filled = withFigures(text, SECTION, 'a machine');
  t.match(filled, /^before\n[^]*\| 1 \| 2\\\|3 \|[^]*<!-- \/figures -->\nafter$/);
  t.notMatch(filled, 'old');
  t.equal(withFigures(filled, SECTION, 'a machine'), filled, 'once more changes nothing');
  t.equal(withFigures('no marks', SECTION, ''), 'no marks');
});

t.test('docs/PERFORMANCE.md has a place for each section', async (t) => {
  const text = readFileSync(join(REPOSITORY, 'docs/PERFORMANCE.md'), 'utf8');
  for (const name of SECTIONS) t.match(text, `<!-- figures: npm run bench (${name}) -->`);
});

t.test('cores are spread so that neither side waits for the other', async (t) => {
  const cost = { cpuMicrosPerRequest: 40, loopCpuMicrosPerRequest: 20, bodyBytes: 1000 };
  const found = spreading(16, cost);
  t.match(found, { cores: 16, loops: 7, workers: 7, perSecond: 350_000 });
  t.equal(found.gigabits, 2.8);
  const loopBound = spreading(16, { ...cost, loopCpuMicrosPerRequest: 30 });
  t.ok(loopBound.loops > 7);
  t.ok(loopBound.workers >= loopBound.loops, 'the service wants a worker for each loop');
});

t.test('only what every repetition shows is a difference', async (t) => {
  t.equal(verdictOf({ min: 0.8, max: 0.99 }), 'less, in every repetition');
  t.equal(verdictOf({ min: 0.9, max: 1.01 }), 'no difference beyond the spread');
  t.equal(verdictOf({ min: 1.1, max: 1.2 }), 'more, in every repetition');
});

t.test('bodies are as long as the curves say', async (t) => {
  const session = (body = ''): { HR_night: number[] } => JSON.parse(body).current_session;
  t.equal(session(bodiesWithSamples(500)[0]).HR_night.length, 500);
  t.equal(JSON.parse(bodiesWithPast(3)[0] ?? '').past_targets.length, 3);
  t.notOk('past_sessions' in JSON.parse(bodiesWithPast(0)[0] ?? ''));
  t.match(bodiesWithDecimals(1)[0], /\d\.\d,/);
  t.notMatch(bodiesWithDecimals(1)[0], /"HR_night":\[[^\]]*\.\d\d/);
  t.match(bodiesWithDecimals(14)[0], /\d\.\d{14}/);
  for (const bytes of [16_384, 262_144]) {
    for (const body of bodiesOfBytes(bytes)) t.ok(body.length <= bytes && body.length > 0.9 * bytes);
  }
});

t.test('numbers are short', async (t) => {
  t.strictSame([1.234, 1234, 23_400, 1_500_000].map(short), ['1.23', '1,230', '23.4k', '1.5M']);
  t.strictSame([0.0931, 2.45, 13.14, 16, 23_400].map(shorter), ['0.1', '2.5', '13.1', '16', '23.4k']);
});

t.test('mistakes in the options are named', async (t) => {
  t.strictSame(readOptions([]).only, SECTIONS);
  for (const args of [
    ['--only', 'x'],
    ['--seconds', '0'],
    ['--repetitions', '1.5'],
    ['--docs', '--compare', 'x'],
  ]) {
    t.throws(() => readOptions(args), UsageError);
  }
});

t.test('the report runs, and writes page, charts and figures', async (t) => {
  const folder = t.testdir();
  const args = ['--seconds', '0.2', '--repetitions', '2', '--only', 'knee', '--out', folder];
  const { code, stdout, stderr } = await ended(
    process.execPath,
    [join(REPOSITORY, '.build/bench/main.js'), ...args],
    {
      cwd: REPOSITORY,
      env: cleanEnvironment(),
    },
  );
  t.equal(code, 0, stderr);
  t.match(stdout, /Latency against offered rate/);
  t.strictSame(readdirSync(folder).toSorted(), ['knee.svg', 'report.html', 'report.json']);
  const { sections } = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as {
    sections: { name: string }[];
  };
  t.strictSame(
    sections.map(({ name }) => name),
    ['knee'],
  );
});
