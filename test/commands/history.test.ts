import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { seededRandom } from '#acuity/base/random.js';
import { HistoryDesk } from '#acuity/history/historyDesk.js';
import type { GivenMeasurement } from '#acuity/records/request.js';
import { dayOf } from '#acuity/history/night.js';
import { randomRecord, step } from '../fixtures/histories.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';

function show(args: readonly string[], input = '') {
  return run('show', args, input);
}

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

interface Shown {
  readonly sessions: readonly Readonly<Record<string, unknown>>[];
  readonly long_run: { readonly nights: number; readonly quantities: Readonly<Record<string, unknown>> };
  readonly measurements: readonly Readonly<Record<string, unknown>>[];
}

const shown = (text: string): Shown => JSON.parse(show([text]).stdout) as Shown;

t.test('a history is printed as JSON, of standard input or an argument', async (t) => {
  const text = chain(9);
  const { stdout, status } = show([], `${text}\n`);
  t.equal(status, 0);
  t.equal(show([text]).stdout, stdout);
  const { sessions, long_run: longRun } = shown(text);
  t.strictSame(
    sessions.map(({ night }) => night),
    ['02', '03', '04', '05', '06', '07'].map((day) => `2026-03-${day}`),
  );
  t.match(sessions.at(-1), {
    read: { HR_night: Number, sleepTimeSeconds: Number },
    scores: { C_SCORE: Number, stress: Number },
    chances_of_high: { valence: Number, arousal: Number },
  });
  t.equal(longRun.nights, 3);
  t.match(longRun.quantities, {
    sleep_time: { unit: 'h', nights: 3 },
    attention: { unit: 'points', nights: 3 },
  });
  t.strictSame(
    shown(chain(2)).sessions.map(({ night }) => night),
    [null, '2026-02-28'],
  );
});

t.test('what is no history is said in one line, without a word of it', async (t) => {
  for (const text of ['', 'marker', chain(2).slice(0, -1)]) {
    const { stdout, stderr, status } = show([], text);
    t.equal(status, 65);
    t.equal(stdout, '');
    t.equal(
      stderr,
      'acuity history show: this is no history, or one that is damaged or of another version\n',
    );
  }
});

const MEASURED: readonly GivenMeasurement[] = [
  ...Array.from({ length: 10 }, (_, index) => ({
    score: 'attention' as const,
    value: 60 + index,
    day: (dayOf('2026-01-01') ?? NaN) + index,
    reliability: 0.7,
  })),
  { score: 'valence', value: 'High', day: dayOf('2026-03-01') ?? NaN, reliability: undefined },
];

t.test('measurements are printed, the older ones as a sum', async (t) => {
  const { measurements } = shown(chain(4, MEASURED));
  const ofAttention = measurements.filter(({ score }) => score === 'attention');
  t.match(ofAttention[0], { on: '2026-01-02', older: { spreads: Number, weight: Number } });
  t.strictSame(ofAttention.at(-1), { score: 'attention', on: '2026-01-10', value: 69, reliability: 0.7 });
  t.equal(ofAttention.length, 9);
  t.strictSame(measurements.at(-1), { score: 'valence', on: '2026-03-01', value: 'High', reliability: 0.3 });
  t.strictSame(shown(chain(4)).measurements, []);
});

t.test('measurements are forgotten, and nothing else', async (t) => {
  for (const args of [[chain(4, MEASURED)], [chain(4)]]) {
    const { stdout, status } = run('forget-measurements', args);
    t.equal(status, 0);
    t.equal(stdout, `${chain(4)}\n`);
  }
  t.equal(run('forget-measurements', [], `${chain(4, MEASURED)}\n`).stdout, `${chain(4)}\n`);
  const damaged = run('forget-measurements', [chain(4).slice(0, -1)]);
  t.equal(damaged.status, 65);
  t.equal(damaged.stdout, '');
  t.match(damaged.stderr, 'acuity history forget-measurements: this is no history');
});
