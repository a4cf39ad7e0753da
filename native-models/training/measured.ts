import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MEASURED_FIELDS, type MeasuredField } from '#rules/fields.js';
import type { MeasuredConstants } from '#acuity/model/manifest.js';
import type { Parameter } from './cohort/parameters.js';

const SOURCES = fileURLToPath(new URL('../../native-models/training/cohort/sources.md', import.meta.url));

const entry = (value: number, unit: string, source: string, meaning: string): Parameter => ({
  value,
  unit,
  source,
  meaning,
});
const share = (value: number, source: string, meaning: string): Parameter =>
  entry(value, 'variance share', source, meaning);
const days = (value: number, source: string, meaning: string): Parameter =>
  entry(value, 'days', source, meaning);

/**
 * A half-life is taken from retest correlations at two intervals. One measurement of age t predicts with
 * ρ(t) = w·a / (1 − a + w·a), a = ρ(0), so that w = ρ(t)·(1 − a) / (a·(1 − ρ(t))), and the half-life is t / log₂(1/w).
 */
const CAPACITY_DAYS = days(
  3000,
  'V93 derived',
  'half-life of a test; .81 at once and .80 after a year are 9 years, .76 after five are 12: rounded down',
);
const MOOD_DAYS = days(1500, 'V95 derived', 'half-life of a rating; .58 at once and .54 after a year');

export const RELIABILITY: Readonly<Record<MeasuredField, Parameter>> = {
  attention: share(
    0.7,
    'SleepyBrain, V98, V96',
    'of one vigilance test: .7 between two sessions, .75 to .83 on phones',
  ),
  memory: share(0.65, 'V96, V97', 'of one test of recall: lower than most tests, .57 to .69 after 1.3 years'),
  reasoning: share(0.7, 'V96, V99', 'of one test: mostly .7 and higher; .8 within two weeks'),
  stress: share(0.55, 'V94 derived', 'of one perceived stress scale: with the half-life .51 over a year'),
  valence: share(
    0.2,
    'assumption',
    'correlation of one day’s label with another day’s: 2/π · arcsin of `moodTraitShare`',
  ),
  arousal: share(0.2, 'assumption', 'the same'),
};

export const HALF_LIFE: Readonly<Record<MeasuredField, Parameter>> = {
  attention: CAPACITY_DAYS,
  memory: CAPACITY_DAYS,
  reasoning: CAPACITY_DAYS,
  stress: days(445, 'V94 derived', 'half-life of a scale; 52.9 % over 12 months and 42.3 % over 39'),
  valence: MOOD_DAYS,
  arousal: MOOD_DAYS,
};

/** As `COMPOSITE` of `network.py`. */
const COMPOSITE = { attention: 0.4, memory: 0.3, reasoning: 0.3 };

/** What the manifest says of measurements, with the sources in full. */
export function measuredConstants(): MeasuredConstants {
  return {
    halfLifeDays: valuesOf(HALF_LIFE),
    reliability: valuesOf(RELIABILITY),
    composite: COMPOSITE,
    sources: sourcesOf([...Object.values(RELIABILITY), ...Object.values(HALF_LIFE)]),
  };
}

function valuesOf(parameters: Readonly<Record<MeasuredField, Parameter>>): Record<MeasuredField, number> {
  return Object.fromEntries(MEASURED_FIELDS.map((field) => [field, parameters[field].value])) as Record<
    MeasuredField,
    number
  >;
}

/** The lines of `sources.md` whose keys the parameters name. */
function sourcesOf(parameters: readonly Parameter[]): string[] {
  const keys = new Set(parameters.flatMap(({ source }) => source.match(/V\d+/g) ?? []));
  const lines = readFileSync(SOURCES, 'utf8').split('\n');
  return [...keys].toSorted().map((key) => {
    const line = lines.find((one) => one.startsWith(`- **${key}** `));
    if (line === undefined) throw new Error(`sources.md has no ${key}`);
    return line.slice(`- **${key}** `.length);
  });
}
