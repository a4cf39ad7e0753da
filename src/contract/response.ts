/** The schema of answers. */
import Type from 'typebox';
import {
  AGAINST,
  CONFIDENCES,
  CONTRIBUTOR_GROUPS,
  type Against,
  type ContributorGroup,
} from './explanation.js';
import {
  HISTORY_LENGTH_MAX,
  MEASURED_FIELDS,
  SCORE_FIELDS,
  SERIES_FIELDS,
  TEST_SCORES,
  type TestScore,
} from '#rules/fields.js';
import { ScoreRecordSchema } from './request.js';

const points = (description: string) => Type.Number({ description });
const percentile = (description: string) => Type.Number({ minimum: 0, maximum: 100, description });
const probability = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const day = Type.String({ format: 'date', description: 'Its day.' });
const count = (description: string) => Type.Integer({ minimum: 0, description });

function each<Name extends string, Schema extends Type.TSchema>(
  names: readonly Name[],
  schema: Schema,
): Record<Name, Schema> {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;
}

/** The explanation of one score. */
export const ExplainedScoreSchema = Type.Object({
  reference: percentile('The network’s score of the reference day, with the same history.'),
  change: points('The score less its reference.'),
  recent: Type.Optional(
    points(
      'The network’s score of a day like the last nights, less the reference: how far these already lie from usual. ' +
        'Only where `against` is `usual` and there are past sessions.',
    ),
  ),
  notable: Type.Boolean({
    description:
      'Whether the change is larger than on nine ordinary days in ten, for this number of past sessions and this reference day.',
  }),
  repeatability: Type.Array(percentile('An end of the range.'), {
    minItems: 2,
    maxItems: 2,
    description:
      'The range of this score, four times in five, if another ordinary device had recorded the same days. It is about ' +
      'the recording, not about the person.',
  }),
  measured: Type.Optional(
    points('The score less what it is without the measurements. Only where one of it counts.'),
  ),
  explained: probability('Share of what the score is about that such signals explain at all (model card).'),
  text: Type.String({ description: 'All this in two sentences, in whole points, in English.' }),
});
export type ExplainedScore = Type.Static<typeof ExplainedScoreSchema>;

/** The points that a group of today’s inputs adds to each score. */
export const ContributorSchema = Type.Object({
  group: Type.Unsafe<ContributorGroup>({ enum: CONTRIBUTOR_GROUPS }),
  label: Type.String({ description: 'The group in words.' }),
  ...each(SCORE_FIELDS, points('Points that this group adds; those of all groups make up the change.')),
  notable: Type.Array(Type.Unsafe<(typeof SCORE_FIELDS)[number]>({ enum: SCORE_FIELDS }), {
    description:
      'The scores to which this group adds more than on nine ordinary days in ten, and more than a point.',
  }),
});

/** The answer to `explain`. */
export const ExplanationSchema = Type.Object({
  against: Type.Unsafe<Against>({
    enum: AGAINST,
    description:
      'The reference day: typical of this age and sex; the last nights, weighted as the network weighs them; or ' +
      'usual for this person, from ten nights on in the long run of the history.',
  }),
  quality: Type.Object({
    confidence: Type.Unsafe<(typeof CONFIDENCES)[number]>({
      enum: CONFIDENCES,
      description: 'By the width of the widest range of repeatability.',
    }),
    sessions: count('Past sessions that were sent.'),
    missing: Type.Array(Type.String(), {
      description: 'Fields that the current session lacks, or that were left out (`not_at_rest`).',
    }),
    implausible: Type.Array(Type.String(), {
      description: 'Fields whose values are possible, but unlikely.',
    }),
    not_at_rest: Type.Array(Type.String(), {
      description:
        'Series of the hour before that were left out, because its heart rate shows that it was not spent at rest; ' +
        'they are in `missing`, too.',
    }),
    series: Type.Object(
      each(
        SERIES_FIELDS,
        Type.Object({ samples: count('Samples sent.'), used: count('Of those, the ones that count.') }),
      ),
    ),
  }),
  scores: Type.Object(each(SCORE_FIELDS, ExplainedScoreSchema)),
  labels: Type.Object({
    valence: probability('Probability of High valence.'),
    arousal: probability('Probability of High arousal.'),
  }),
  contributors: Type.Array(ContributorSchema, {
    minItems: CONTRIBUTOR_GROUPS.length,
    maxItems: CONTRIBUTOR_GROUPS.length,
  }),
});
export type Explanation = Type.Static<typeof ExplanationSchema>;

const span = {
  from: Type.String({ description: 'ISO 8601 with Z.' }),
  to: Type.String({ description: 'ISO 8601 with Z.' }),
};

/** The sleep that a recording's night was made of. */
interface RecordedSleep {
  readonly from: string;
  readonly to: string;
  readonly source: string | null;
  readonly parts: readonly { readonly what: string; readonly from: string; readonly to: string }[];
}

/** The body of a 200: the seven scores, numbers rounded to two decimals, and the model's time. */
export const PredictionResponseSchema = Type.Object({
  ...ScoreRecordSchema.properties,
  inference_time_ms: Type.Number({
    minimum: 0,
    description: 'Milliseconds of the model run that scored this request.',
  }),
  unmeasured: Type.Optional(
    Type.Object(ScoreRecordSchema.properties, {
      description:
        'Only if measurements count: the scores without them. The history keeps these as past scores.',
    }),
  ),
  measured: Type.Optional(
    Type.Array(
      Type.Object({
        test: Type.String(),
        score: Type.Unsafe<TestScore>({ enum: TEST_SCORES }),
        value: percentile('Its percentile among people of that age and sex.'),
        on: day,
      }),
      { description: 'Only if raw results of tests were sent: what became of each.' },
    ),
  ),
  measurements_ignored: Type.Optional(
    Type.Array(
      Type.Object({
        score: Type.Unsafe<(typeof MEASURED_FIELDS)[number]>({ enum: MEASURED_FIELDS }),
        on: day,
      }),
      {
        description:
          'Only if there are any: measurements that came too late to count, because the history already keeps later ' +
          'ones only as a sum. One that was sent before is already part of that sum.',
      },
    ),
  ),
  explanation: Type.Optional(ExplanationSchema),
  recording: Type.Optional(
    Type.Object(
      {
        at: Type.String({ description: 'The moment that was scored, ISO 8601 with Z.' }),
        night: Type.Unsafe<string | null>({
          type: ['string', 'null'],
          format: 'date',
          description:
            'The date of waking: the night of the history, unless the request has another. null without a night.',
        }),
        sleep: Type.Unsafe<RecordedSleep | null>({
          type: ['object', 'null'],
          properties: {
            ...span,
            source: Type.Unsafe<string | null>({
              type: ['string', 'null'],
              description: 'The device, app or provider that recorded it, if the answer says so.',
            }),
            parts: Type.Array(Type.Object({ what: Type.String({ description: 'Its field.' }), ...span }), {
              description: 'More than one if the night came in parts.',
            }),
          },
          required: ['from', 'to', 'source', 'parts'],
          description: 'The sleep of that night.',
        }),
        left: Type.Array(
          Type.Object({
            what: Type.String({ description: 'The field.' }),
            why: Type.String({ description: 'Why it was not used.' }),
          }),
          { description: 'What was sent and not used.' },
        ),
      },
      { description: 'Only if a recording was sent: what was read of it.' },
    ),
  ),
  history: Type.Optional(
    Type.String({
      maxLength: HISTORY_LENGTH_MAX,
      description: 'Only if the request has one: send it with the next request of this person.',
    }),
  ),
});
export type PredictionResponse = Type.Static<typeof PredictionResponseSchema>;
