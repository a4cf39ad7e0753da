import { createHash } from 'node:crypto';

/**
 * One number of a session's feature row. The row holds `(value − centre) / scale`, clamped to ±`ROW_CLAMP`;
 * a missing value is 0 and its group's mask is 0.
 */
export interface Feature {
  readonly name: string;
  /** The group whose mask says whether this value is known; a mask is its own group's. */
  readonly group: string;
  readonly unit: string;
  /** A typical adult's value and spread: fixed constants, so that a row means the same for every network. */
  readonly centre: number;
  readonly scale: number;
  readonly meaning: string;
}

/** Rows are bounded: whatever a caller sends, the network sees −4 to 4. */
export const ROW_CLAMP = 4;

type Entry = readonly [name: string, unit: string, centre: number, scale: number, meaning: string];

function group(name: string, entries: readonly Entry[]): Feature[] {
  const mask: Feature = {
    name: `${name}_known`,
    group: name,
    unit: '0 or 1',
    centre: 0,
    scale: 1,
    meaning: `1 where the values of ${name} are known, else 0`,
  };
  const values = entries.map(([suffix, unit, centre, scale, meaning]) => ({
    name: suffix === '' ? name : `${name}_${suffix}`,
    group: name,
    unit,
    centre,
    scale,
    meaning,
  }));
  return [mask, ...values];
}

/** What every series gives; percentiles come from a histogram (see `pipeline/series.ts`). */
function level(unit: string, centre: number, spread: number, within: number, successive: number): Entry[] {
  return [
    ['mean', unit, centre, spread, 'mean of the plausible samples'],
    ['sd', unit, within, within / 2, 'standard deviation of the samples'],
    ['p10', unit, centre - 1.28 * within, spread, '10th percentile'],
    ['p50', unit, centre, spread, 'median'],
    ['p90', unit, centre + 1.28 * within, spread, '90th percentile'],
    ['slope', unit, 0, within * 1.5, 'change from start to end of the least-squares line'],
    ['rmssd', unit, successive, successive / 2, 'root mean square of successive differences'],
    ['count', 'log10', 2, 0.5, 'decimal logarithm of the number of plausible samples'],
  ];
}

/** The course of the night, by thirds of the series. */
const thirds = (unit: string, scale: number): Entry[] => [
  ['first', unit, 0, scale, 'mean of the first third minus the mean of the night'],
  ['last', unit, 0, scale, 'mean of the last third minus the mean of the night'],
];

const REGULARITY: Entry = [
  'irregularity',
  'ratio',
  1,
  0.6,
  'von Neumann ratio: mean squared successive difference over the variance (white noise gives 2)',
];

/**
 * The ordered catalogue. The order is the contract with the network: a bundle whose hash differs is refused.
 * Centres follow the norms cited in `native-models/training`.
 */
export const FEATURES: readonly Feature[] = [
  ...group('hr_day', level('bpm', 76, 11, 7, 4)),
  ...group('rr_day', [...level('breaths/min', 16, 3, 2, 1.5), REGULARITY]),
  ...group('hr_night', [
    ...level('bpm', 61, 8, 5, 3),
    ...thirds('bpm', 3),
    ['nadir', 'bpm', 55, 8, 'lowest mean of a twelfth of the night'],
    ['nadir_at', 'share of the night', 0.6, 0.3, 'where in the night the nadir lies, 0 to 1'],
  ]),
  ...group('rr_night', [
    ...level('breaths/min', 15.4, 2.25, 1.5, 1.2),
    ...thirds('breaths/min', 0.8),
    REGULARITY,
  ]),
  ...group('hr_dip', [['', 'bpm', 14, 8, 'day median minus night mean of the heart rate']]),
  ...group('rr_dip', [['', 'breaths/min', 0.6, 2.5, 'day median minus night mean of the breathing rate']]),
  ...group('pulse_breath', [
    ['', 'beats/breath', 4, 0.8, 'night mean heart rate over night mean breathing rate'],
  ]),
  ...group('sleep_time', [['', 'h', 6.8, 1.3, 'time asleep']]),
  ...group('deep_share', [['', 'fraction', 0.16, 0.05, 'share of deep sleep in the time asleep']]),
  ...group('rem_share', [['', 'fraction', 0.21, 0.06, 'share of REM sleep in the time asleep']]),
  ...group('light_share', [['', 'fraction', 0.63, 0.07, 'share of light sleep in the time asleep']]),
  ...group('awake', [['', 'h', 0.8, 0.5, 'time awake within the sleep interval']]),
  ...group('efficiency', [['', 'fraction', 0.88, 0.07, 'time asleep over time asleep and awake']]),
  ...group('age', [['', 'years', 45, 17, 'age']]),
  ...group('sex', [['', '1 = M, −1 = F', 0, 1, 'sex']]),
  ...group('height', [['', 'cm', 170, 10, 'height']]),
  ...group('weight', [['', 'kg', 77, 17, 'weight']]),
  ...group('bmi', [['', 'kg/m²', 26.5, 5, 'body mass index']]),
];

export const FEATURE_COUNT = FEATURES.length;

/** Where each feature stands in a row. */
export const FEATURE_INDEX: ReadonlyMap<string, number> = new Map(
  FEATURES.map((feature, index) => [feature.name, index]),
);

/** SHA-256 over everything of the catalogue that changes the numbers in a row, in hex. */
export function featuresHash(): string {
  const rows = FEATURES.map(({ name, group: owner, unit, centre, scale }) => [
    name,
    owner,
    unit,
    centre,
    scale,
  ]);
  return createHash('sha256')
    .update(JSON.stringify([ROW_CLAMP, rows]))
    .digest('hex');
}

/**
 * The floats of one past target, in order: the five numeric scores as (score − 50) / 25, then valence and
 * arousal as 1 (High) or −1 (Low).
 */
export const TARGETS = [
  'C_SCORE',
  'attention',
  'memory',
  'reasoning',
  'stress',
  'valence',
  'arousal',
] as const;
export const TARGET_COUNT = TARGETS.length;
export const TARGET_CENTRE = 50;
export const TARGET_SCALE = 25;
