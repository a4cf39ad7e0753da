import t, { type Test } from 'tap';
import {
  HISTORY_LENGTH_MAX,
  LABEL_FIELDS,
  MEASURED_FIELDS,
  SCORE_FIELDS,
  type MeasuredField,
} from '#rules/fields.js';
import { seededRandom, type Random } from '#acuity/base/random.js';
import { FEATURES, FEATURE_COUNT } from '#acuity/contract/features.js';
import { HISTORY_BYTES_MAX, VERSION } from '#acuity/night/history/form.js';
import type { HistoryDesk } from '#acuity/night/history/historyDesk.js';
import type { WasmParser } from '#acuity/read/wasmParser.js';
import type { GivenMeasurement } from '#acuity/night/request.js';
import { QUANTITIES } from '#acuity/night/history/longRun.js';
import { dateOf } from '#acuity/base/days.js';
import { featuriseRecord } from '#acuity/night/featurise.js';
import { adjustedRow } from '#acuity/night/measuredRow.js';
import { LAYOUT } from '#acuity/night/layout.js';
import { THRESHOLDS, historyReader, randomRecord, step, type Step } from '../../fixtures/histories.js';
import { CONSTANTS, randomMeasurements } from '../../fixtures/measured.js';
import {
  added,
  adjusted,
  adjustmentOf,
  evidenceOf,
  isLabel,
  LABEL_VALUES,
  latentOf,
  NO_EVIDENCE,
  offsetOf,
  standingOf,
  weightAfter,
} from '#acuity/night/measured.js';
import type { MeasuringConstants } from '#acuity/night/measuredRow.js';

/**
 * What a history is, in plain code that remembers everything: the words of the contract, one after the other. The
 * service's histories are held against it.
 */

/** A session that was scored. */
interface SlowNight {
  /** Days since 1970; undefined where it has no date. */
  readonly day: number | undefined;
  readonly record: Float64Array;
  /** Five scores in hundredths. */
  readonly hundredths: readonly number[];
  readonly chances: readonly number[];
  readonly labels: readonly number[];
}

type SlowSession = Pick<SlowNight, 'day' | 'record'>;

interface SlowQuantity {
  readonly count: number;
  readonly weight: number;
  readonly mean: number;
  readonly spread: number;
}

/** A measurement, as the history keeps it; one that is summed up keeps the residual that it had then. */
interface SlowMeasurement {
  readonly value: number;
  readonly reliability: number;
  readonly day: number;
  readonly residual?: number;
}

interface SlowMeasured {
  kept: SlowMeasurement[];
  summed: SlowMeasurement[];
}

class SlowHistory {
  readonly measured = new Map<string, SlowMeasured>();
  nights: SlowNight[] = [];
  private counted: { nights: number; quantities: ReadonlyMap<string, SlowQuantity> } | undefined;
  /** All that lie in the long run, oldest first. */
  retired: SlowNight[] = [];

  /** The past of a session, and what becomes of the history with it, once it is scored. */
  take({ day, record }: SlowSession): {
    readonly past: readonly SlowNight[];
    readonly scored: (said: Omit<SlowNight, 'day' | 'record'>) => void;
  } {
    const newest = this.newest();
    if (day !== undefined && newest !== undefined && day - newest > 180) this.forget();
    const place = this.placeOf(day);
    const before = this.nights[place - 1];
    const isOlderThanAll = place === 0 && this.nights.length > 0;
    const isOlderThanPast = day !== undefined && newest !== undefined && newest - day > 60;
    if (isOlderThanAll || isOlderThanPast) {
      return { past: this.nights.slice(0, place).slice(-5), scored: () => undefined };
    }
    if (day !== undefined && before?.day === day) {
      const past = this.nights.slice(0, place - 1).slice(-5);
      return {
        past,
        scored: (said) => void (this.nights[this.nights.indexOf(before)] = { day, record, ...said }),
      };
    }
    const after = this.nights.slice(place);
    const isOld = (night: SlowNight): boolean =>
      day !== undefined && night.day !== undefined && day - night.day > 60;
    const leaving = this.nights.filter(isOld);
    this.nights = this.nights.filter((night) => !isOld(night));
    if (this.nights.length === 6) leaving.push(...this.nights.splice(0, 1));
    this.retired.push(...leaving);
    const index = this.nights.length - after.filter((night) => this.nights.includes(night)).length;
    const past = this.nights.slice(0, index).slice(-5);
    return { past, scored: (said) => void this.nights.splice(index, 0, { day, record, ...said }) };
  }

  /**
   * After `take`, before the session is scored: takes in what was measured, on `night` or before it. Gives what came too
   * late.
   */
  measure(
    given: readonly GivenMeasurement[],
    night: number,
    { reliability }: MeasuringConstants,
  ): GivenMeasurement[] {
    const late: GivenMeasurement[] = [];
    for (const one of given.toSorted((a, b) => a.day - b.day)) {
      const measured = this.measured.get(one.score) ?? { kept: [], summed: [] };
      if (one.day <= Math.max(-Infinity, ...measured.summed.map(({ day }) => day))) {
        late.push(one);
        continue;
      }
      const share = Math.round((one.reliability ?? reliability[one.score]) * 10_000) / 10_000;
      const percent = typeof one.value === 'number' ? one.value : LABEL_VALUES[one.value];
      const value = Math.round(percent * 100) / 100;
      measured.kept = measured.kept.filter(({ day }) => day !== one.day);
      measured.kept.push({ value, reliability: share, day: one.day });
      measured.kept.sort((a, b) => a.day - b.day);
      for (const old of measured.kept.splice(0, Math.max(0, measured.kept.length - 8))) {
        const latent = this.latent(one.score, old.day === night ? undefined : old.day);
        measured.summed.push({ ...old, residual: standingOf(one.score, old.value) - latent });
      }
      this.measured.set(one.score, measured);
    }
    return late;
  }

  /** What is answered where the network says `score` (of a label: the chance of High in percent) on `night`. */
  answered(
    field: MeasuredField,
    score: number,
    { night, halfLifeDays }: { night: number | undefined; halfLifeDays: number },
  ): number {
    const { kept, summed } = this.measured.get(field) ?? { kept: [], summed: [] };
    if (kept.length === 0) return score;
    const newest = Math.max(
      ...[...this.measured.values()].flatMap(({ kept: all }) => all.map(({ day }) => day)),
    );
    const today = night ?? Math.max(newest, this.newest() ?? -Infinity);
    const lastSummed = summed.at(-1)?.day ?? NaN;
    let evidence = NO_EVIDENCE;
    for (const { value, reliability, day } of kept) {
      const latent = day === night ? undefined : this.latent(field, day);
      const weight = weightAfter(today - day, halfLifeDays);
      evidence = added(evidence, evidenceOf(standingOf(field, value), latent, reliability, weight));
    }
    for (const { residual = NaN, reliability, day } of summed) {
      const weight = weightAfter(lastSummed - day + Math.abs(today - lastSummed), halfLifeDays);
      evidence = added(evidence, evidenceOf(residual, 0, reliability, weight));
    }
    const adjustment = adjustmentOf(evidence);
    if (adjustment === undefined) return score;
    return adjusted(field, score, offsetOf(field, adjustment, score), adjustment.scale);
  }

  /** λ of a day that is past; of none that is known, of the long run. */
  private latent(field: MeasuredField, day: number | undefined): number {
    const night = day === undefined ? undefined : this.nights.findLast((one) => one.day === day);
    const chance = 100 * (night?.chances[(LABEL_FIELDS as readonly string[]).indexOf(field)] ?? NaN);
    const said = isLabel(field)
      ? chance
      : (night?.hundredths[(SCORE_FIELDS as readonly string[]).indexOf(field)] ?? NaN) / 100;
    const usual = (isLabel(field) ? 100 : 1) * (this.longRun().get(field)?.mean ?? NaN);
    const known = Number.isNaN(said) ? usual : said;
    return Number.isNaN(known) ? 0 : latentOf(field, known);
  }

  private newest(): number | undefined {
    const days = this.nights.flatMap(({ day }) => day ?? []);
    return days.length === 0 ? undefined : Math.max(...days);
  }

  private placeOf(day: number | undefined): number {
    if (day === undefined) return this.nights.length;
    return 1 + this.nights.findLastIndex((night) => night.day === undefined || night.day <= day);
  }

  private forget(): void {
    this.nights = [];
    this.retired = [];
  }

  /** The long run, counted anew from every night in it, by the name of each input and score. */
  longRun(): ReadonlyMap<string, SlowQuantity> {
    if (this.counted?.nights !== this.retired.length) {
      this.counted = { nights: this.retired.length, quantities: this.count() };
    }
    return this.counted.quantities;
  }

  private count(): ReadonlyMap<string, SlowQuantity> {
    const rows = this.retired.map(knownValues);
    const names = new Set(rows.flatMap((row) => [...row.keys()]));
    return new Map(
      [...names].map((name) => {
        const known = rows.flatMap((row, index) => {
          const value = row.get(name);
          return value === undefined ? [] : [{ value, weight: 0.5 ** ((rows.length - 1 - index) / 60) }];
        });
        const weight = sum(known.map((one) => one.weight));
        const mean = sum(known.map((one) => one.weight * one.value)) / weight;
        const variance = sum(known.map((one) => one.weight * (one.value - mean) ** 2)) / weight;
        return [name, { count: known.length, weight, mean, spread: Math.sqrt(variance) }];
      }),
    );
  }
}

function knownValues({ record, hundredths, chances }: SlowNight): ReadonlyMap<string, number> {
  const row = new Float32Array(FEATURE_COUNT);
  featuriseRecord(record, 0, row, 0);
  const known = new Map<string, number>();
  FEATURES.forEach(({ name, group, centre, scale }, place) => {
    const mask = row[FEATURES.findIndex((feature) => feature.name === `${group}_known`)];
    const isLasting = group === 'age' || group === 'sex';
    if (name !== `${group}_known` && !isLasting && mask === 1)
      known.set(name, centre + scale * (row[place] ?? NaN));
  });
  SCORE_FIELDS.forEach((name, index) => known.set(name, (hundredths[index] ?? NaN) / 100));
  LABEL_FIELDS.forEach((name, index) => {
    const chance = chances[index] ?? NaN;
    if (!Number.isNaN(chance)) known.set(name, chance);
  });
  return known;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

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

/** Sessions as the network sees them, features, bit for bit, and targets; the first of them is the record `first`. */
function seenOf(
  { records, targets }: Pick<Step, 'records' | 'targets'>,
  count: number,
  first: number,
): string[] {
  return Array.from({ length: count }, (_, index) => {
    const target = targets.subarray(index * TARGET_LENGTH, (index + 1) * TARGET_LENGTH);
    return `${rowOf(records, first + index)} ${target.join()}`;
  });
}

const pastOf = (one: Step): string[] => seenOf(one, one.pastCount, 1);

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
function nightsOf(parser: WasmParser, text: string): string[] {
  if (!parser.readHistoryText(text)) return ['no history'];
  const { history } = parser.desk;
  return seenOf(history, history.count, 0).map((seen, index) => {
    const chances = history.chances.subarray(2 * index, 2 * index + 2);
    return `${history.days[index]} ${seen} ${chances.join()}`;
  });
}

function slowNights({ nights }: SlowHistory): string[] {
  const seen = slowPast(nights);
  return nights.map(({ day, chances }, index) => `${day ?? NaN} ${seen[index]} ${chances.join()}`);
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

t.test('chains of nights are what the contract says; the last one again changes nothing', async (t) => {
  const random = seededRandom(SEED);
  const parser = historyReader();
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
      const got = step(parser, text, day ?? NaN, record, given);
      ignored += tooLate.length;
      const ignoredNow = tooLate.map(({ score, day }) => `${score} ${dateOf(day)}`);
      const ignoredThen = got.next.ignored.map(({ score, on }) => `${score} ${on}`);
      if (!isSame(t, ignoredThen, ignoredNow, 'what came too late')) return;
      const moved = measuredDifference(slow, got, day);
      if (moved !== undefined) return t.fail(moved);
      if (!isSame(t, pastOf(got), slowPast(past), 'the past')) return;
      scored(said(got.scores));
      if (!isSame(t, nightsOf(parser, got.text), slowNights(slow), 'the history')) return;
      const wrong = longRunDifference(parser.desk, slow);
      if (wrong !== undefined) return t.fail(`${wrong} (half-life: 60 nights)`);
      if (day !== undefined) {
        const again = step(parser, got.text, day, record, random() < 0.5 ? given : []);
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
  for (const [what, count] of Object.entries({ retired, replaced, late, ignored, summed }))
    t.ok(count > CHAINS, `${what}: ${count}`);
});

function isSame(t: Test, got: readonly string[], expected: readonly string[], what: string): boolean {
  return got.join('\n') === expected.join('\n') || t.same(got, expected, what);
}

t.test('the longest history has room for all measurements in its 2,048 characters', async (t) => {
  t.ok(VERSION.length + Math.ceil((HISTORY_BYTES_MAX * 4) / 3) <= HISTORY_LENGTH_MAX);
  const random = seededRandom(SEED);
  const parser = historyReader();
  let text = '';
  for (let day = 0; day < 40; day++) text = step(parser, text, 65_000 + day, randomRecord(random, true)).text;
  const all = MEASURED_FIELDS.flatMap((score, index) =>
    Array.from({ length: 9 }, (_, day) => ({
      score,
      value: index < 4 ? 84 : ('High' as const),
      day: 64_000 + day,
      reliability: undefined,
    })),
  );
  const longest = step(parser, text, 65_039, randomRecord(random, true), all).text;
  t.equal(Math.floor(((longest.length - VERSION.length) * 3) / 4), HISTORY_BYTES_MAX);
});
