/**
 * The fields of a request, their names and bounds: the schemas, the parser and the clients take them from
 * here.
 */

/** The four time series of a session, in the order of every stage. */
export const SERIES_FIELDS = ['HR_day_1h', 'RR_day_1h', 'HR_night', 'RR_night'] as const;
export type SeriesField = (typeof SERIES_FIELDS)[number];

/** Whether a series is heart rate; otherwise it is breathing. */
export function isHeart(field: SeriesField): boolean {
  return field === 'HR_day_1h' || field === 'HR_night';
}

/** Other names of series, used by integrations written for comparable services. */
export const SERIES_ALIASES = { HR_night: 'HR_night_imputed', RR_night: 'RR_night_imputed' } as const;
export type SeriesAlias = (typeof SERIES_ALIASES)[keyof typeof SERIES_ALIASES];
export const TARGETS_ALIAS = 'past_target';

/** Most past sessions (and past targets) in one request. */
export const PAST_MAX = 5;

/** Longest history accepted, in characters. */
export const HISTORY_LENGTH_MAX = 2_048;

/** Longest series accepted, in samples. */
export interface SeriesLimits {
  readonly daySamplesMax: number;
  readonly nightSamplesMax: number;
}

export const DEFAULT_SERIES_LIMITS: SeriesLimits = { daySamplesMax: 7_200, nightSamplesMax: 43_200 };

/** The longest `field` may be under `limits`, in samples. */
export function samplesMax(field: SeriesField, limits: SeriesLimits): number {
  return field === 'HR_day_1h' || field === 'RR_day_1h' ? limits.daySamplesMax : limits.nightSamplesMax;
}

/** Bounds of a field that is one number. */
interface NumberBounds {
  readonly minimum: number;
  readonly maximum: number;
  readonly isWhole: boolean;
}

/** At most two days. */
const SECONDS: NumberBounds = { minimum: 0, maximum: 172_800, isWhole: true };
const SHARE: NumberBounds = { minimum: 0, maximum: 100, isWhole: false };

/** The fields of a session that are one number each, and that the network gets. */
export const SCORED_BOUNDS = {
  sleepTimeSeconds: SECONDS,
  deepSleepSeconds: SECONDS,
  remSleepSeconds: SECONDS,
  lightSleepSeconds: SECONDS,
  awakeSleepSeconds: SECONDS,
  deepPercentage: SHARE,
  remPercentage: SHARE,
  lightPercentage: SHARE,
  age: { minimum: 0, maximum: 130, isWhole: false },
  height_cm: { minimum: 30, maximum: 272, isWhole: false },
  weight_kg: { minimum: 1, maximum: 650, isWhole: false },
} as const satisfies Record<string, NumberBounds>;
/** Those that the network does not get: no explanation calls them missing, and no history keeps them. */
const OTHER_BOUNDS = {} as const satisfies Record<string, NumberBounds>;
export const NUMBER_BOUNDS = { ...SCORED_BOUNDS, ...OTHER_BOUNDS } as const;
export type NumberField = keyof typeof NUMBER_BOUNDS;

const NUMBER_FIELDS = Object.keys(NUMBER_BOUNDS) as readonly NumberField[];

/** The fields of a session that are one value each. */
export const SESSION_SCALARS = [...NUMBER_FIELDS, 'sex'] as const;

/** All fields of a session, the series first. */
export const FIELDS_OF_A_SESSION = [...SERIES_FIELDS, ...SESSION_SCALARS] as const;

/** Those that may change a score. */
export const FIELDS_WITH_EFFECT = FIELDS_OF_A_SESSION.filter((field) => !(field in OTHER_BOUNDS));

/** Minimum and maximum of each numeric scalar. */
export const SCALAR_BOUNDS = NUMBER_FIELDS.map((field) => ({ field, ...NUMBER_BOUNDS[field] }));

/** The order of the numeric scores in every row: the model's output and the past targets. */
export const SCORE_FIELDS = ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress'] as const;
export const LABEL_FIELDS = ['valence', 'arousal'] as const;
/** The scores that tests and questionnaires measure: all scores but the composite. */
export const TEST_SCORES = ['attention', 'memory', 'reasoning', 'stress'] as const;
export type TestScore = (typeof TEST_SCORES)[number];
/** The scores and labels that can be measured; the labels by ratings. */
export const MEASURED_FIELDS = [...TEST_SCORES, ...LABEL_FIELDS] as const;
export type MeasuredField = (typeof MEASURED_FIELDS)[number];
/**
 * The share of the variance between people's single values that comes from lasting differences between
 * people.
 */
export const RELIABILITY_BOUNDS = { minimum: 0.05, maximum: 0.99 } as const;

/** Minimum and maximum of a numeric score. */
export const SCORE_BOUNDS = { minimum: 0, maximum: 100 } as const;
export const LABELS = ['Low', 'High'] as const;
export const SEXES = ['M', 'F'] as const;

/** Most measurements in one request. */
export const MEASUREMENTS_MAX = 64;

/** The answers to the Perceived Stress Scale: how many, and the highest of each; the lowest is 0. */
export const ANSWERS = { count: 10, maximum: 4 } as const;
/** The reactions of a vigilance test, which has some ten to twenty a minute, and the longest of them. */
export const REACTIONS = { least: 20, most: 120, maximumMs: 30_000 } as const;

/** A current session may have this in place of its series and sleep: what a provider answered. */
export const RECORDING_FIELD = 'recording';
/** The fields that a session may have beside a recording. */
export const PERSON_FIELDS = ['age', 'height_cm', 'weight_kg', 'sex'] as const;

/** All valid names in each kind of object in a request. */
export const FIELD_NAMES = {
  request: [
    'current_session',
    'past_sessions',
    'past_targets',
    TARGETS_ALIAS,
    'explain',
    'history',
    'night',
    'measurements',
  ],
  session: [...SERIES_FIELDS, ...Object.values(SERIES_ALIASES), ...SESSION_SCALARS, RECORDING_FIELD],
  target: [...SCORE_FIELDS, ...LABEL_FIELDS],
  measurement: ['score', 'value', 'on', 'reliability', 'test', 'answers', 'reactions_ms', 'result'],
} as const;
export type ObjectKind = keyof typeof FIELD_NAMES;

/** The kinds of the objects in a request's fields, each one or a list of them. No object: callers name its keys. */
export const KINDS_WITHIN: ReadonlyMap<string, ObjectKind> = new Map([
  ['current_session', 'session'],
  ['past_sessions', 'session'],
  ['past_targets', 'target'],
  [TARGETS_ALIAS, 'target'],
  ['measurements', 'measurement'],
]);
