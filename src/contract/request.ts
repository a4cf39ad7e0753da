/** The schema of requests. */
import Type from 'typebox';
import { PROVIDERS, answersOf, type Provider } from '#adapters/recording.js';
import {
  ANSWERS,
  DEFAULT_SERIES_LIMITS,
  HISTORY_LENGTH_MAX,
  LABELS,
  LABEL_FIELDS,
  MEASUREMENTS_MAX,
  NUMBER_BOUNDS,
  PAST_MAX,
  REACTIONS,
  RELIABILITY_BOUNDS,
  SCORE_BOUNDS,
  SEXES,
  TEST_SCORES,
  type NumberField,
  type SESSION_SCALARS,
  type SeriesLimits,
  type TestScore,
} from '#rules/fields.js';
import { NORMS } from './norms.js';

/** A field that may be absent or null. */
const nullable = <T>(type: string, more: Type.TSchemaOptions) =>
  Type.Optional(Type.Unsafe<T | null>({ type: [type, 'null'], ...more }));

const optionalNumber = (field: NumberField, description: string) => {
  const { minimum, maximum, isWhole } = NUMBER_BOUNDS[field];
  return nullable<number>(isWhole ? 'integer' : 'number', { minimum, maximum, description });
};

const share = (field: NumberField, stage: string) =>
  optionalNumber(
    field,
    `Share of ${stage} sleep: fractions (0.20) if each share is at most 1, else percent points (20).`,
  );

const scalars = {
  sleepTimeSeconds: optionalNumber(
    'sleepTimeSeconds',
    'Total sleep time in seconds; where all three stage durations are given, their sum counts instead.',
  ),
  deepSleepSeconds: optionalNumber('deepSleepSeconds', 'Time in deep sleep, in seconds.'),
  remSleepSeconds: optionalNumber('remSleepSeconds', 'Time in REM sleep, in seconds.'),
  lightSleepSeconds: optionalNumber('lightSleepSeconds', 'Time in light sleep, in seconds.'),
  awakeSleepSeconds: optionalNumber('awakeSleepSeconds', 'Time awake during the sleep interval, in seconds.'),
  deepPercentage: share('deepPercentage', 'deep'),
  remPercentage: share('remPercentage', 'REM'),
  lightPercentage: share('lightPercentage', 'light'),
  age: optionalNumber('age', 'Age in years.'),
  height_cm: optionalNumber('height_cm', 'Height in centimetres.'),
  weight_kg: optionalNumber('weight_kg', 'Weight in kilograms.'),
  sex: Type.Optional(Type.Unsafe<'M' | 'F' | null>({ enum: [...SEXES, null], description: 'M, F or null.' })),
} satisfies Record<(typeof SESSION_SCALARS)[number], unknown>;

const series = (maxItems: number, description: string) =>
  nullable<number[]>('array', { items: { type: 'number' }, maxItems, description });

/** The answers of providers: each adapter has its own form, which docs/ADAPTERS.md describes. */
const answers = [...new Set(PROVIDERS.flatMap(answersOf))].map((name) => {
  const of = PROVIDERS.filter((provider) => answersOf(provider).includes(name));
  return [name, Type.Optional(Type.Unknown({ description: `As it came from ${of.join(', ')}.` }))] as const;
});

const optionalText = (description: string) => nullable<string>('string', { description });

/** A night and the day around it as a provider sent them. */
export const RecordingSchema = Type.Object({
  provider: Type.Unsafe<Provider>({ enum: PROVIDERS, description: 'Whose answers these are.' }),
  at: optionalText(
    'The moment to score, ISO 8601 with an offset; by default the end of the newest night. Give it: without it no night is too old.',
  ),
  zone: optionalText('The zone of times without one: an offset (`+01:00`) or a name (`Europe/Berlin`).'),
  newest_night_within_hours: nullable<number>('number', {
    description: 'How many hours before `at` a night may have ended; 20 by default.',
  }),
  ...(Object.fromEntries(answers) as Record<string, Type.TOptional<Type.TUnknown>>),
});

/** A session as callers write it. Any field may be absent or null; unknown fields are ignored. */
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
    HR_night_imputed: series(nightSamplesMax, 'Alias of HR_night; beside it, null or [].'),
    RR_night_imputed: series(nightSamplesMax, 'Alias of RR_night; beside it, null or [].'),
    ...scalars,
    recording: Type.Optional(
      Type.Unsafe<Type.Static<typeof RecordingSchema> | null>({
        ...RecordingSchema,
        type: ['object', 'null'],
        description:
          'In `current_session` alone: what a provider answered, in place of all other fields but `age`, `height_cm`, ' +
          '`weight_kg` and `sex`. Costs more tokens of the rate (API.md).',
      }),
    ),
  });
}

/**
 * A session without its series, which are checked element by element: checking thousands of numbers by schema would
 * cost a millisecond.
 */
export const SessionFrameSchema = Type.Object(scalars);
export type SessionFrame = Type.Static<typeof SessionFrameSchema>;

const score = (description: string) => Type.Number({ ...SCORE_BOUNDS, description });
const label = (description: string) => Type.Unsafe<'Low' | 'High'>({ enum: LABELS, description });

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

const measured = {
  on: nullable<string>('string', {
    format: 'date',
    description: 'The day of the measurement, not after night; by default night.',
  }),
  reliability: nullable<number>('number', {
    ...RELIABILITY_BOUNDS,
    description:
      'The retest correlation: the share of the variance between people’s single values that belongs to the ' +
      'person and lasts; by default the value in the model’s manifest.',
  }),
};

const percentile = {
  score: Type.Unsafe<TestScore>({ enum: TEST_SCORES }),
  value: score('What was measured: a percentile among people of that age and sex, 0 to 100.'),
};

/** The percentile of a test of attention, memory or reasoning, or of a questionnaire of stress. */
export const PercentileSchema = Type.Object({ ...percentile, ...measured });

/** A rating of the mood. */
export const MeasuredLabelSchema = Type.Object({
  score: Type.Unsafe<(typeof LABEL_FIELDS)[number]>({ enum: LABEL_FIELDS }),
  value: label('What the person said.'),
  ...measured,
});

export type PlainMeasurement = Type.Static<typeof PercentileSchema> | Type.Static<typeof MeasuredLabelSchema>;

/**
 * The percentile of a test or its raw result. One schema for both: the types that generators of clients make of two
 * would be read as one another.
 */
export const MeasuredScoreSchema = Type.Object({
  score: Type.Optional(percentile.score),
  value: Type.Optional(percentile.value),
  test: Type.Optional(
    Type.String({
      description: `Instead of score and value: ${[...NORMS.keys()].join(', ')}, or a test of the operator’s own norms; with one of the three below, on the scale of its norm, and the age of the current session, in the range of its norm.`,
    }),
  ),
  answers: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: ANSWERS.maximum }), {
      minItems: ANSWERS.count,
      maxItems: ANSWERS.count,
      description: 'For pss10: the answers in the order of the questions, 0 for never to 4 for very often.',
    }),
  ),
  reactions_ms: Type.Optional(
    Type.Array(Type.Number({ maximum: REACTIONS.maximumMs }), {
      minItems: REACTIONS.least,
      maxItems: REACTIONS.most,
      description:
        'For vigilance_speed: from signal to press, in milliseconds. Those below 100 are false starts and left out.',
    }),
  ),
  result: Type.Optional(
    Type.Number({ description: 'For any test: the sum, count or speed on the scale of its norm.' }),
  ),
  ...measured,
});

/** An actual measurement of the person. */
export const MeasurementSchema = Type.Union([MeasuredScoreSchema, MeasuredLabelSchema]);
export type Measurement = Type.Static<typeof MeasurementSchema>;

/** The whole request as callers write it, for validators, documents and tests. */
export function requestSchema(limits: SeriesLimits = DEFAULT_SERIES_LIMITS) {
  const session = sessionSchema(limits);
  const past = <T extends Type.TSchema>(items: T, description: string) =>
    nullable<Type.Static<T>[]>('array', { items, maxItems: PAST_MAX, description });
  return Type.Object({
    current_session: session,
    past_sessions: past(
      session,
      'Up to five earlier sessions, oldest first: with past_targets or not at all; null and [] count as absent.',
    ),
    past_targets: past(ScoreRecordSchema, 'The scores of past_sessions: same length, same order.'),
    past_target: past(ScoreRecordSchema, 'Alias of past_targets; beside it, null or [].'),
    explain: nullable<boolean>('boolean', {
      description:
        'true: the answer says why. null and false mean absent. Costs more tokens of the rate (API.md).',
    }),
    history: nullable<string>('string', {
      maxLength: HISTORY_LENGTH_MAX,
      description:
        'The history of the last answer for this person, unchanged, instead of the lists; "" begins one.',
    }),
    night: nullable<string>('string', {
      format: 'date',
      description:
        'The date on which the person woke. With it, a night that is sent again replaces its earlier version in the ' +
        'history, and a late one gets its place. Ignored without history.',
    }),
    measurements: nullable<Measurement[]>('array', {
      items: MeasurementSchema,
      maxItems: MEASUREMENTS_MAX,
      description:
        'Results of tests, questionnaires and ratings of this person: as percentiles, or as they were taken, of which ' +
        'the service makes percentiles by the age and sex of the current session. Send each once, with history and ' +
        'night: the history keeps it. The same score and day again replaces it.',
    }),
  });
}

export type Session = Type.Static<ReturnType<typeof sessionSchema>>;
export type PredictionRequestBody = Type.Static<ReturnType<typeof requestSchema>>;
