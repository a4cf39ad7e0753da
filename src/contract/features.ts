/** The ordered catalogue of features, a network's inputs. */
import { createHash } from 'node:crypto';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';

/**
 * One number of a session's feature row. The row holds `(value − centre) / scale`, clamped to ±`ROW_CLAMP`;
 * a missing value is 0 and its group's mask is 0.
 */
export interface Feature {
  readonly name: string;
  /** The group whose mask says whether this value is known; a mask belongs to its own group. */
  readonly group: string;
  readonly unit: string;
  /** A typical adult's value and spread: fixed constants, so that a row means the same to every network. */
  readonly centre: number;
  readonly scale: number;
  readonly meaning: string;
}

/** Rows are bounded: for any input, the network sees −4 to 4. */
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

/**
 * The description of a series. Spread, trend and number of samples are traits of the device, so they are no features.
 */
const LEVEL = 'median of the plausible samples; of fewer than 12 their mean, from 5 on without the extremes';

/**
 * The ordered catalogue. The order is the contract with the network: a bundle with another hash is refused. Centres
 * follow the norms cited in `native-models/training`.
 */
export const FEATURES: readonly Feature[] = [
  ...group('hr_day', [['', 'bpm', 76, 15, `heart rate by day: ${LEVEL}`]]),
  ...group('rr_day', [['', 'breaths/min', 16, 4, `breathing rate by day: ${LEVEL}`]]),
  ...group('hr_night', [['', 'bpm', 62, 15, `heart rate asleep: ${LEVEL}`]]),
  ...group('rr_night', [['', 'breaths/min', 15.5, 3.5, `breathing rate asleep: ${LEVEL}`]]),
  ...group('sleep_time', [['', 'h', 7, 2, 'time asleep']]),
  ...group('deep_share', [['', 'fraction', 0.16, 0.05, 'share of deep sleep in the time asleep']]),
  ...group('rem_share', [['', 'fraction', 0.21, 0.06, 'share of REM sleep in the time asleep']]),
  ...group('light_share', [['', 'fraction', 0.63, 0.1, 'share of light sleep in the time asleep']]),
  ...group('awake', [['', 'h', 0.8, 1, 'time awake within the sleep interval']]),
  ...group('efficiency', [['', 'fraction', 0.88, 0.15, 'time asleep over time asleep and awake']]),
  ...group('age', [['', 'years', 45, 17, 'age']]),
  ...group('sex', [['', '1 = M, −1 = F', 0, 1, 'sex']]),
  ...group('height', [['', 'cm', 170, 10, 'height']]),
  ...group('weight', [['', 'kg', 77, 20, 'weight']]),
  ...group('bmi', [['', 'kg/m²', 26.5, 5, 'body mass index']]),
];

export const FEATURE_COUNT = FEATURES.length;

/** The index of each feature in a row. */
export const FEATURE_INDEX: ReadonlyMap<string, number> = new Map(
  FEATURES.map((feature, index) => [feature.name, index]),
);

/** The index of a feature in a row; the mask of its group is directly before it. */
export function featureAt(name: string): number {
  const index = FEATURE_INDEX.get(name);
  if (index === undefined) throw new Error(`no feature ${name}`);
  return index;
}

/**
 * The hour by day was not at rest if its heart rate (bpm) exceeds the night's by more than `aboveNight`, or exceeds
 * `most` where no night is known. Heart rate and breathing then reflect effort, not load: both are missing in the
 * row.
 */
export const HOUR_AT_REST = { aboveNight: 35, most: 115 } as const;

/** SHA-256 of every part of the catalogue that affects the numbers in a row, in hex. */
export function featuresHash(): string {
  const rows = FEATURES.map(({ name, group: owner, unit, centre, scale }) => [
    name,
    owner,
    unit,
    centre,
    scale,
  ]);
  return createHash('sha256')
    .update(JSON.stringify([ROW_CLAMP, rows, HOUR_AT_REST]))
    .digest('hex');
}

/**
 * The floats of one past target, in order: the five numeric scores as (score − 50) / 25, then valence and
 * arousal as 1 (High) or −1 (Low).
 */
export const TARGETS = [...SCORE_FIELDS, ...LABEL_FIELDS] as const;
export const TARGET_COUNT = TARGETS.length;
export const TARGET_CENTRE = 50;
export const TARGET_SCALE = 25;
