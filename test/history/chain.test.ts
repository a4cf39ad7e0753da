import t, { type Test } from 'tap';
import { HISTORY_LENGTH_MAX, MEASURED_FIELDS } from '#rules/fields.js';
import { seededRandom, type Random } from '#acuity/base/random.js';
import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { HISTORY_BYTES_MAX } from '#acuity/history/form.js';
import { HistoryDesk } from '#acuity/history/historyDesk.js';
import type { GivenMeasurement } from '#acuity/records/request.js';
import { QUANTITIES } from '#acuity/history/longRun.js';
import { dateOf } from '#acuity/history/night.js';
import { VERSION } from '#acuity/history/text.js';
import { featuriseRecord } from '#acuity/pipeline/featurise.js';
import { adjustedRow } from '#acuity/pipeline/measuredRow.js';
import { LAYOUT } from '#acuity/records/layout.js';
import { THRESHOLDS, randomRecord, step, type Step } from '../fixtures/histories.js';
import { CONSTANTS, randomMeasurements } from '../fixtures/measured.js';
import { SlowHistory, type SlowNight } from '../fixtures/slowHistory.js';

/** Chains of nights in the comparison; a long run takes thousands. */
const CHAINS = Number(process.env['HISTORY_CHAINS'] ?? 60);
const SEED = Number(process.env['HISTORY_SEED'] ?? 1);
const NIGHTS_MAX = 80;

const { RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;

/** What a caller may do next: the night after, again, late, after a pause, without a date. */
function nextDay(random: Random, latest: number, kind: 'dated' | 'undated' | 'mixed'): number | undefined {
  if (kind === 'undated' || (kind === 'mixed' && random() < 0.3)) return undefined;
  const chance = random();
  if (chance < 0.6) return latest + 1;
  if (chance < 0.7) return latest;
  if (chance < 0.85) return Math.max(0, latest - Math.floor(12 * random()));
  if (chance < 0.95) return latest + 2 + Math.floor(30 * random());
  if (chance < 0.98) return latest + 55 + Math.floor(12 * random());
  return latest + 170 + Math.floor(20 * random());
}

function rowOf(record: Float64Array, at = 0): string {
  const row = new Float32Array(FEATURE_COUNT);
  featuriseRecord(record, at * RECORD_LENGTH, row, 0);
  return row.join();
}

/** What the network sees of a past: features, bit for bit, and targets. */
function pastOf({ records, targets, pastCount }: Step): string[] {
  return Array.from({ length: pastCount }, (_, index) => {
    const target = targets.subarray(index * TARGET_LENGTH, (index + 1) * TARGET_LENGTH);
    return `${rowOf(records, 1 + index)} ${target.join()}`;
  });
}

function slowPast(past: readonly SlowNight[]): string[] {
  return past.map(({ record, hundredths, labels }) => {
    return `${rowOf(record)} ${[...hundredths.map((score) => score / 100), ...labels].join()}`;
  });
}

function said(scores: Float32Array): Omit<SlowNight, 'day' | 'record'> {
  const [valence = NaN, arousal = NaN] = scores.subarray(5);
  return {
    hundredths: [...scores.subarray(0, 5)].map((score) => Math.round(score * 100)),
    chances: [valence, arousal].map((chance) => Math.round(chance * 10_000) / 10_000),
    labels: [valence >= THRESHOLDS.valence ? 1 : -1, arousal >= THRESHOLDS.arousal ? 1 : -1],
  };
}

/** Few of a night as a rule, and of the last weeks; now and then all that one request may have, of years. */
function whatWasMeasured(random: Random, day: number): GivenMeasurement[] {
  const chance = random();
  if (chance < 0.1) return randomMeasurements(random, { count: 64, day, daysBack: 2_000 });
  return randomMeasurements(random, {
    count: 1 + Math.floor(4 * random()),
    day,
    daysBack: chance < 0.6 ? 5 : 60,
  });
}

/** The scores with measurements. */
function answers({ next, scores }: Step): string[] {
  return [...(next.adjustments === undefined ? scores : adjustedRow(next.adjustments, scores, 0))].map(
    String,
  );
}

/** Where the answer is not what the words of the contract give. */
function measuredDifference(slow: SlowHistory, got: Step, night: number | undefined): string | undefined {
  const isAny = [...slow.measured.values()].length > 0;
  if (isAny !== (got.next.adjustments !== undefined)) return `measured: ${isAny}`;
  const answered = answers(got).map(Number);
  const expected = MEASURED_FIELDS.map((field, index) => {
    const halfLifeDays = CONSTANTS.halfLifeDays[field];
    const unit = index < 4 ? 1 : 100;
    return slow.answered(field, unit * (got.scores[1 + index] ?? NaN), { night, halfLifeDays }) / unit;
  });
  const index = expected.findIndex((score, at) => !(Math.abs(score - (answered[1 + at] ?? NaN)) < 1e-3));
  if (index >= 0) return `${MEASURED_FIELDS[index]}: ${answered[1 + index]}, not ${expected[index]}`;
  const { attention, memory, reasoning } = CONSTANTS.composite;
  const [one = NaN, two = NaN, three = NaN] = expected;
  const isComposed = ['attention', 'memory', 'reasoning'].some((field) => slow.measured.has(field));
  const composite = isComposed ? attention * one + memory * two + reasoning * three : (got.scores[0] ?? NaN);
  return Math.abs(composite - (answered[0] ?? NaN)) < 1e-3
    ? undefined
    : `C_SCORE: ${answered[0]}, not ${composite}`;
}

/** What a history says, in the words of the slow one. */
function nightsOf(desk: HistoryDesk, text: string): string[] {
  if (!desk.read(text)) return ['no history'];
  const { history } = desk;
  return Array.from({ length: history.count }, (_, index) => {
    const target = history.targets.subarray(index * TARGET_LENGTH, (index + 1) * TARGET_LENGTH);
    const chances = history.chances.subarray(2 * index, 2 * index + 2);
    return `${history.days[index]} ${rowOf(history.records, index)} ${target.join()} ${chances.join()}`;
  });
}

function slowNights({ nights }: SlowHistory): string[] {
  return nights.map(({ day, record, hundredths, labels, chances }) => {
    const target = [...hundredths.map((score) => score / 100), ...labels];
    return `${day ?? NaN} ${rowOf(record)} ${target.join()} ${chances.join()}`;
  });
}

/** Where the long run of the history that was read last differs from the slow one. */
function longRunDifference({ history: { longRun } }: HistoryDesk, slow: SlowHistory): string | undefined {
  if (longRun.nights !== slow.retired.length) return `${longRun.nights} nights, not ${slow.retired.length}`;
  const expected = slow.longRun();
  for (const [index, { name, least, most }] of QUANTITIES.entries()) {
    const { count, weight, mean, spread } = expected.get(name) ?? { count: 0, weight: 0, mean: 0, spread: 0 };
    const tolerance = (most - least) * 1e-5;
    const isNear = (one: number | undefined, other: number, most = tolerance): boolean =>
      Math.abs((one ?? NaN) - other) <= most;
    if (longRun.counts[index] !== count)
      return `${name}: known in ${longRun.counts[index]} nights, not ${count}`;
    if (!isNear(longRun.weights[index], weight, 1e-4)) return `${name}: weight`;
    if (!isNear(longRun.means[index], mean)) return `${name}: mean ${longRun.means[index]}, not ${mean}`;
    // Of a square root: where it is nearly 0 the least error shows.
    if (!isNear(longRun.spreads[index], spread, 100 * tolerance)) return `${name}: spread`;
  }
  return undefined;
}

t.test(
  'chains of nights are what the contract says in plain code, and scoring the last night again changes nothing',
  async (t) => {
    const random = seededRandom(SEED);
    const desk = new HistoryDesk();
    let [retired, replaced, late, ignored, summed] = [0, 0, 0, 0, 0];
    for (let chain = 0; chain < CHAINS; chain++) {
      const kind = (['dated', 'undated', 'mixed'] as const)[chain % 3] ?? 'mixed';
      const slow = new SlowHistory();
      let text = '';
      let latest = 20_000 + Math.floor(5_000 * random());
      for (let night = 1 + Math.floor(NIGHTS_MAX * random()); night > 0; night--) {
        const day = nextDay(random, latest, kind);
        const record = randomRecord(random);
        const count = slow.nights.length;
        const { past, scored } = slow.take({ day, record });
        const given = day === undefined || random() < 0.5 ? [] : whatWasMeasured(random, day);
        const tooLate = slow.measure(given, day ?? NaN, CONSTANTS);
        const got = step(desk, text, day ?? NaN, record, given);
        ignored += tooLate.length;
        const ignoredNow = tooLate.map(({ score, day }) => `${score} ${dateOf(day)}`);
        if (
          !isSame(
            t,
            got.next.ignored.map(({ score, on }) => `${score} ${on}`),
            ignoredNow,
            'what came too late',
          )
        )
          return;
        const moved = measuredDifference(slow, got, day);
        if (moved !== undefined) return t.fail(moved);
        if (!isSame(t, pastOf(got), slowPast(past), 'the past')) return;
        scored(said(got.scores));
        if (!isSame(t, nightsOf(desk, got.text), slowNights(slow), 'the history')) return;
        const wrong = longRunDifference(desk, slow);
        if (wrong !== undefined) return t.fail(wrong);
        if (day !== undefined) {
          const again = step(desk, got.text, day, record, random() < 0.5 ? given : []);
          if (again.text !== got.text) return t.fail(`the history of ${kind} night ${day} scored again`);
          if (!isSame(t, pastOf(again), pastOf(got), 'the past of a night scored again')) return;
          if (!isSame(t, answers(again), answers(got), 'the answer to a night scored again')) return;
          if (slow.nights.length === count) replaced++;
          if (day < latest) late++;
          latest = Math.max(latest, day);
        }
        retired += slow.retired.length > 0 ? 1 : 0;
        summed += [...slow.measured.values()].filter((one) => one.summed.length > 0).length;
        text = got.text;
      }
    }
    for (const [what, count] of Object.entries({ retired, replaced, late, ignored, summed })) {
      t.ok(count > CHAINS, `${what}: ${count}`);
    }
  },
);

function isSame(t: Test, got: readonly string[], expected: readonly string[], what: string): boolean {
  return got.join('\n') === expected.join('\n') || t.same(got, expected, what);
}

t.test('the longest history has room for all measurements in its 2,048 characters', async (t) => {
  t.ok(VERSION.length + Math.ceil((HISTORY_BYTES_MAX * 4) / 3) <= HISTORY_LENGTH_MAX);
  const random = seededRandom(SEED);
  const desk = new HistoryDesk();
  let text = '';
  for (let day = 0; day < 40; day++) text = step(desk, text, 65_000 + day, randomRecord(random, true)).text;
  const all = MEASURED_FIELDS.flatMap((score, index) =>
    Array.from({ length: 9 }, (_, day) => ({
      score,
      value: index < 4 ? 84 : ('High' as const),
      day: 64_000 + day,
      reliability: undefined,
    })),
  );
  const longest = step(desk, text, 65_039, randomRecord(random, true), all).text;
  t.equal(Math.floor(((longest.length - VERSION.length) * 3) / 4), HISTORY_BYTES_MAX);
});
