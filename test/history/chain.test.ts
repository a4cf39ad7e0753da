import t, { type Test } from 'tap';
import { HISTORY_LENGTH_MAX } from '#rules/fields.js';
import { seededRandom, type Random } from '#acuity/base/random.js';
import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { HISTORY_BYTES_MAX } from '#acuity/history/form.js';
import { HistoryDesk } from '#acuity/history/historyDesk.js';
import { QUANTITIES } from '#acuity/history/longRun.js';
import { VERSION } from '#acuity/history/text.js';
import { featuriseRecord } from '#acuity/pipeline/featurise.js';
import { LAYOUT } from '#acuity/records/layout.js';
import { THRESHOLDS, randomRecord, step, type Step } from '../fixtures/histories.js';
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
    let [retired, replaced, late] = [0, 0, 0];
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
        const got = step(desk, text, day ?? NaN, record);
        if (!isSame(t, pastOf(got), slowPast(past), 'the past')) return;
        scored(said(got.scores));
        if (!isSame(t, nightsOf(desk, got.text), slowNights(slow), 'the history')) return;
        const wrong = longRunDifference(desk, slow);
        if (wrong !== undefined) return t.fail(wrong);
        if (day !== undefined) {
          const again = step(desk, got.text, day, record);
          if (again.text !== got.text) return t.fail(`the history of ${kind} night ${day} scored again`);
          if (!isSame(t, pastOf(again), pastOf(got), 'the past of a night scored again')) return;
          if (slow.nights.length === count) replaced++;
          if (day < latest) late++;
          latest = Math.max(latest, day);
        }
        retired += slow.retired.length > 0 ? 1 : 0;
        text = got.text;
      }
    }
    for (const [what, count] of Object.entries({ retired, replaced, late })) {
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
  const measured = HISTORY_BYTES_MAX - Math.floor(((text.length - VERSION.length) * 3) / 4);
  t.equal(measured, 6 * (1 + 8 * (4 + 2 + 3) + 4 * 4 + 3), 'all that the longest lacks is measurements');
});
