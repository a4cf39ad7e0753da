import Type from 'typebox';

/** The four time series of a session, in the order in which every stage walks them. */
export const SERIES_FIELDS = ['HR_day_1h', 'RR_day_1h', 'HR_night', 'RR_night'] as const;
export type SeriesField = (typeof SERIES_FIELDS)[number];

/** Whether a series is heart rate; else it is breathing. */
export function isHeart(field: SeriesField): boolean {
  return field === 'HR_day_1h' || field === 'HR_night';
}

/** Other names of series, as integrations written for comparable services send them. */
export const SERIES_ALIASES = { HR_night: 'HR_night_imputed', RR_night: 'RR_night_imputed' } as const;
export type SeriesAlias = (typeof SERIES_ALIASES)[keyof typeof SERIES_ALIASES];

/** Bounds of what a body may be made of, outside of its strings: whatever is within, reading it costs what its bytes cost. */
export interface StructureBounds {
  /** Objects and arrays in each other. */
  readonly levelsMax: number;
  /** Objects and arrays, all together. */
  readonly bracketsMax: number;
  /** Strings, keys included. */
  readonly stringsMax: number;
}

export const STRUCTURE_BOUNDS: StructureBounds = { levelsMax: 64, bracketsMax: 10_000, stringsMax: 20_000 };

/** Most past sessions (and past targets) in one request. */
export const PAST_MAX = 5;

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

/** A whole number of seconds, at most two days. */
const seconds = (description: string) =>
  Type.Optional(
    Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, maximum: 172_800, description }),
  );

const optionalNumber = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Unsafe<number | null>({ type: ['number', 'null'], minimum, maximum, description }));

const share = (stage: string) =>
  optionalNumber(
    0,
    100,
    `Share of ${stage} sleep: fractions (0.20) if each share is at most 1, else percent points (20).`,
  );

const scalars = {
  sleepTimeSeconds: seconds(
    'Total sleep time in seconds; where all three stage durations are given, their sum counts instead.',
  ),
  deepSleepSeconds: seconds('Time in deep sleep, in seconds.'),
  remSleepSeconds: seconds('Time in REM sleep, in seconds.'),
  lightSleepSeconds: seconds('Time in light sleep, in seconds.'),
  awakeSleepSeconds: seconds('Time awake during the sleep interval, in seconds.'),
  deepPercentage: share('deep'),
  remPercentage: share('REM'),
  lightPercentage: share('light'),
  age: optionalNumber(0, 130, 'Age in years.'),
  height_cm: optionalNumber(30, 272, 'Height in centimetres.'),
  weight_kg: optionalNumber(1, 650, 'Weight in kilograms.'),
  sex: Type.Optional(Type.Unsafe<'M' | 'F' | null>({ enum: ['M', 'F', null], description: 'M, F or null.' })),
};

/** The fields of a session that are one value each. */
export const SESSION_SCALARS = Object.keys(scalars) as readonly (keyof typeof scalars)[];

/** All of them, the series first. */
export const FIELDS_OF_A_SESSION = [...SERIES_FIELDS, ...SESSION_SCALARS] as const;

/** Least and most of each scalar that is a number. The parser is given them when it starts. */
export const SCALAR_BOUNDS = SESSION_SCALARS.filter((field) => field !== 'sex').map((field) => {
  const { type, minimum, maximum } = scalars[field] as unknown as {
    readonly type: readonly string[];
    readonly minimum: number;
    readonly maximum: number;
  };
  return { field, minimum, maximum, isWhole: type.includes('integer') };
});

const series = (maxItems: number, description: string) =>
  Type.Optional(
    Type.Unsafe<number[] | null>({
      type: ['array', 'null'],
      items: { type: 'number' },
      maxItems,
      description,
    }),
  );

/** A session as a caller writes it. Any field may be absent or null; unknown fields are ignored. */
export function sessionSchema(limits: SeriesLimits = DEFAULT_SERIES_LIMITS) {
  const { daySamplesMax, nightSamplesMax } = limits;
  return Type.Object({
    HR_day_1h: series(daySamplesMax, 'Heart rate over the hour before, in beats per minute, oldest first.'),
    RR_day_1h: series(
      daySamplesMax,
      'Respiratory rate over the hour before, in breaths per minute (not R-R intervals), oldest first.',
    ),
    HR_night: series(nightSamplesMax, 'Heart rate during the night, in beats per minute, oldest first.'),
    RR_night: series(nightSamplesMax, 'Respiratory rate during the night, in breaths per minute.'),
    HR_night_imputed: series(nightSamplesMax, 'Alias of HR_night; give one of the two.'),
    RR_night_imputed: series(nightSamplesMax, 'Alias of RR_night; give one of the two.'),
    ...scalars,
  });
}

/**
 * A session without its series, which are looked at element by element: what a schema says of thousands of numbers
 * would cost a millisecond.
 */
export const SessionFrameSchema = Type.Object(scalars);
export type SessionFrame = Type.Static<typeof SessionFrameSchema>;

const score = (description: string) => Type.Number({ minimum: 0, maximum: 100, description });
const label = (description: string) => Type.Unsafe<'Low' | 'High'>({ enum: ['Low', 'High'], description });

/** The seven scores of one session; `past_targets` holds them, the response carries them. */
export const ScoreRecordSchema = Type.Object({
  C_SCORE: score('Composite of attention, memory and reasoning: a percentile, 0 to 100.'),
  attention: score('Attention: expected percentile within the age and sex group, 0 to 100.'),
  memory: score('Memory: expected percentile within the age and sex group, 0 to 100.'),
  reasoning: score('Reasoning: expected percentile within the age and sex group, 0 to 100.'),
  stress: score('Stress load: expected percentile within the age and sex group, 0 to 100; higher is more.'),
  valence: label('Whether the mood is more likely pleasant (High) or unpleasant (Low).'),
  arousal: label('Whether the activation is more likely High or Low.'),
});
export type ScoreRecord = Type.Static<typeof ScoreRecordSchema>;

/** The order of the numeric scores wherever they stand in a row: the model's output and the past targets. */
export const SCORE_FIELDS = ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress'] as const;
export const LABEL_FIELDS = ['valence', 'arousal'] as const;

/** The whole request as a caller writes it, for validators, documents and tests. */
export function requestSchema(limits: SeriesLimits = DEFAULT_SERIES_LIMITS) {
  const session = sessionSchema(limits);
  const past = <T extends Type.TSchema>(items: T, description: string) =>
    Type.Optional(
      Type.Unsafe<Type.Static<T>[] | null>({
        type: ['array', 'null'],
        items,
        maxItems: PAST_MAX,
        description,
      }),
    );
  return Type.Object({
    current_session: session,
    past_sessions: past(session, 'Up to five earlier sessions, oldest first.'),
    past_targets: past(ScoreRecordSchema, 'The scores of past_sessions: same length, same order.'),
    past_target: past(ScoreRecordSchema, 'Alias of past_targets; give one of the two.'),
    explain: Type.Optional(
      Type.Unsafe<boolean | null>({
        type: ['boolean', 'null'],
        description:
          'Whether the answer is to say why; null and false are the same. Costs 8 tokens of the rate.',
      }),
    ),
  });
}

export type Session = Type.Static<ReturnType<typeof sessionSchema>>;
export type PredictionRequestBody = Type.Static<ReturnType<typeof requestSchema>>;
