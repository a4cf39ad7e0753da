import t from 'tap';
import { seededRandom } from '#acuity/base/random.js';
import { registerHistory } from '#acuity/commands/history.js';
import type { GivenMeasurement } from '#acuity/night/request.js';
import { dayOf } from '#acuity/night/history/night.js';
import { historyReader, randomRecord, step } from '../fixtures/histories.js';
import { commanded } from '../fixtures/lake.js';
import { acuity } from '../fixtures/scripts.js';

function chain(nights: number, measured: readonly GivenMeasurement[] = []): string {
  const random = seededRandom(3);
  const parser = historyReader();
  let text = step(parser, '', NaN, randomRecord(random)).text;
  for (let night = 1; night < nights; night++) {
    text = step(
      parser,
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

interface Shown {
  readonly sessions: readonly Readonly<Record<string, unknown>>[];
  readonly long_run: { readonly nights: number; readonly quantities: Readonly<Record<string, unknown>> };
  readonly measurements: readonly Readonly<Record<string, unknown>>[];
}

t.test('a history is printed as JSON, of standard input or an argument', async (t) => {
  const { stdout, code } = await acuity(['history', 'show'], {}, `${chain(9)}\n`);
  t.equal(code, 0);
  const { sessions, long_run: longRun, measurements: none } = JSON.parse(stdout) as Shown;
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
  t.match(longRun.quantities, { sleep_time: { unit: 'h', nights: 3 }, attention: { unit: 'points' } });
  t.strictSame(none, []);
  const { stdout: shown } = await acuity(['history', 'show', chain(4, MEASURED)]);
  const { measurements } = JSON.parse(shown) as Shown;
  const ofAttention = measurements.filter(({ score }) => score === 'attention');
  t.match(ofAttention[0], { on: '2026-01-02', older: { spreads: Number, weight: Number } });
  t.strictSame(ofAttention.at(-1), { score: 'attention', on: '2026-01-10', value: 69, reliability: 0.7 });
  t.equal(ofAttention.length, 9);
  t.strictSame(measurements.at(-1), { score: 'valence', on: '2026-03-01', value: 'High', reliability: 0.3 });
});

t.test('measurements are forgotten, and nothing else', async (t) => {
  const given = `${chain(4, MEASURED)}\n`;
  const { stdout, code } = await acuity(['history', 'forget-measurements'], {}, given);
  t.strictSame([code, stdout], [0, `${chain(4)}\n`]);
});

t.test('what is no history is said in one line, without a word of it', async (t) => {
  for (const [command, text] of [
    ['show', 'marker'],
    ['forget-measurements', chain(2).slice(0, -1)],
  ] as const)
    t.strictSame(await commanded(t, registerHistory, ['history', command, text]), {
      code: 65,
      stdout: '',
      said: `acuity history ${command}: this is no history, or one that is damaged or of another version\n`,
    });
});
