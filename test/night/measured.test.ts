import t from 'tap';
import {
  added,
  adjusted,
  adjustmentOf,
  evidenceOf,
  faded,
  LABEL_VALUES,
  latentOf,
  NO_EVIDENCE,
  offsetOf,
  standingOf,
  weightAfter,
} from '#acuity/night/measured.js';
import { MEASURED_FIELDS, type LABELS, type MeasuredField } from '#rules/fields.js';
import { casesOf } from '../fixtures/sharedCases.js';
import { normalCdf, probit } from '#acuity/night/normal.js';

t.test('the normal distribution agrees with its tables and with its inverse', async (t) => {
  const tabled = [[0, 0.5], [1, 0.8413447460685429], [-1.96, 0.024997895148220435], [3, 0.9986501019683699], [-8, 6.220960574271785e-16]] as const; // prettier-ignore
  for (const [z, p] of tabled) t.ok(Math.abs(normalCdf(z) - p) < 1e-14, `Φ(${z})`);
  for (let p = 0.00005; p < 1; p += 0.00317)
    t.ok(Math.abs(normalCdf(probit(p)) - p) < 1e-13, `Φ(probit(${p}))`);
});

t.test('without measurements nothing is adjusted; a scale of 1 gives the score again', async (t) => {
  t.equal(adjustmentOf(NO_EVIDENCE), undefined);
  for (const field of MEASURED_FIELDS) {
    for (const score of [0.01, 3, 50, 64.2, 99.99])
      t.ok(Math.abs(adjusted(field, score, 0, 1) - score) < 1e-9, `${field} ${score}`);
  }
});

t.test('fresh measurements of one reliability shrink as Spearman and Brown have it', async (t) => {
  const reliability = 0.7;
  const values = [71, 64, 80];
  const latent = latentOf('memory', 47);
  const residuals = values.map((value) => standingOf('memory', value) - latent);
  const evidence = values.reduce(
    (sum, value) => added(sum, evidenceOf(standingOf('memory', value), latent, reliability, 1)),
    NO_EVIDENCE,
  );
  const { base, own, scale } = adjustmentOf(evidence) ?? { base: NaN, own: NaN, scale: NaN };
  const n = values.length;
  const mean = residuals.reduce((sum, residual) => sum + residual, 0) / n;
  const share = (n * reliability) / (1 + (n - 1) * reliability);
  t.ok(Math.abs(base - share * mean) < 1e-12, `${base}`);
  t.equal(own, 0);
  t.ok(Math.abs(scale ** 2 - (1 - reliability + reliability * (1 - share))) < 1e-12, `${scale}`);
});

t.test('a measurement counts half after its half-life, towards the past and the future', async (t) => {
  t.equal(weightAfter(180, 180), 0.5);
  t.equal(weightAfter(-180, 180), 0.5);
  const evidence = evidenceOf(1, 0.25, 0.5, 1);
  t.strictSame(faded(evidence, weightAfter(180, 180)), evidenceOf(1, 0.25, 0.5, 0.5));
});

/** A case of packages/cases/computed.json. */
interface MeasuredCase {
  readonly name: string;
  readonly score: MeasuredField;
  readonly night: string;
  /** What the network says of `night`: 0 to 100, of a label the chance of High in percent; so are all others. */
  readonly unmeasured: number;
  readonly nights: Readonly<Record<string, number>>;
  readonly longRun: number | null;
  readonly halfLifeDays: number;
  readonly measurements: readonly {
    readonly value: number | (typeof LABELS)[number];
    readonly on: string;
    readonly reliability: number;
  }[];
  readonly expect: { readonly offset: number; readonly score: number };
}

function daysBetween(one: string, other: string): number {
  return Math.abs(Date.parse(one) - Date.parse(other)) / 86_400_000;
}

function valueOf(value: number | (typeof LABELS)[number]): number {
  return typeof value === 'number' ? value : LABEL_VALUES[value];
}

/** What the night of a measurement was said to be; undefined where nothing is known of it. */
function saidOf(one: MeasuredCase, on: string): number | undefined {
  return on === one.night ? one.unmeasured : (one.nights[on] ?? one.longRun ?? undefined);
}

const CASES = casesOf<MeasuredCase>('computed', 'measurements');

/** A case by the arithmetic, as a history has it: what is said of the night in hand comes last. */
function measured(one: MeasuredCase): { offset: number; score: number } {
  const { score: field, night, halfLifeDays, unmeasured } = one;
  const evidence = one.measurements.reduce((sum, { value, on, reliability }) => {
    const said = saidOf(one, on);
    const latent = on === night ? undefined : said === undefined ? 0 : latentOf(field, said);
    const weight = weightAfter(daysBetween(on, night), halfLifeDays);
    return added(sum, evidenceOf(standingOf(field, valueOf(value)), latent, reliability, weight));
  }, NO_EVIDENCE);
  const adjustment = adjustmentOf(evidence);
  if (adjustment === undefined) return { offset: 0, score: unmeasured };
  const offset = offsetOf(field, adjustment, unmeasured);
  return { offset, score: adjusted(field, unmeasured, offset, adjustment.scale) };
}

t.test('the worked cases come out as they stand', async (t) => {
  t.ok(CASES.length >= 10);
  for (const one of CASES) {
    const { offset, score } = measured(one);
    const rounded = { offset: Number(offset.toFixed(4)), score: Number(score.toFixed(2)) };
    t.strictSame(rounded, one.expect, one.name);
  }
});
