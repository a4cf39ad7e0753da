import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { seededRandom } from '#acuity/base/random.js';
import { HistoryDesk } from '#acuity/history/historyDesk.js';
import type { GivenMeasurement } from '#acuity/records/request.js';
import { dayOf } from '#acuity/history/night.js';
import { randomRecord, step } from '../fixtures/histories.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';

function run(command: string, args: readonly string[], input = '') {
  return spawnSync(process.execPath, [join(REPOSITORY, 'dist/main.js'), 'history', command, ...args], {
    input,
    encoding: 'utf8',
    env: cleanEnvironment(),
  });
}

function chain(nights: number, measured: readonly GivenMeasurement[] = []): string {
  const random = seededRandom(3);
  const desk = new HistoryDesk();
  let text = step(desk, '', NaN, randomRecord(random)).text;
  for (let night = 1; night < nights; night++) {
    text = step(
      desk,
      text,
      (dayOf('2026-02-27') ?? NaN) + night,
      randomRecord(random, true),
      night === nights - 1 ? measured : [],
    ).text;
  }
  return text;
}

const MEASURED: readonly GivenMeasurement[] = [
  ...Array.from({ length: 10 }, (_, index) => ({
    score: 'attention' as const,
    value: 60 + index,
    day: (dayOf('2026-01-01') ?? NaN) + index,
    reliability: 0.7,
  })),
  { score: 'valence', value: 'High', day: dayOf('2026-03-01') ?? NaN, reliability: undefined },
];

t.test('a history is printed in words, of standard input or an argument', async (t) => {
  const text = chain(9);
  const { stdout, status } = run('show', [], `${text}\n`);
  t.equal(status, 0);
  t.match(stdout, '6 sessions, and 3 nights in the long run');
  t.match(stdout, /^ +2026-03-02 .* 2026-03-07$/m);
  t.match(stdout, /^sleep_time +h +3 /m);
  t.match(stdout, /^attention +points +3 /m);
  t.match(stdout, /^2026-03-07( +\d+\.\d\d){5}( +(High|Low) \(0\.\d+\)){2}$/m);
  t.notMatch(stdout, 'measured');
  const measured = run('show', [chain(4, MEASURED)]).stdout;
  t.match(measured, /^attention +2026-01-10 +69\.00 +0\.7$/m);
  t.match(measured, /^attention +2026-01-02 +older ones: \+0\.\d\d spreads, weight \d\.\d\d +–$/m);
  t.match(measured, /^valence +2026-03-01 +High +0\.3$/m);
});

t.test('measurements are forgotten, and nothing else', async (t) => {
  const { stdout, status } = run('forget-measurements', [], `${chain(4, MEASURED)}\n`);
  t.strictSame([status, stdout], [0, `${chain(4)}\n`]);
});

t.test('what is no history is said in one line, without a word of it', async (t) => {
  for (const [command, text] of [
    ['show', 'marker'],
    ['forget-measurements', chain(2).slice(0, -1)],
  ] as const) {
    const { stdout, stderr, status } = run(command, [], text);
    t.strictSame([status, stdout], [65, '']);
    t.equal(
      stderr,
      `acuity history ${command}: this is no history, or one that is damaged or of another version\n`,
    );
  }
});
