/** The schemas of a model folder's files. */
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { ScoreRecordSchema } from '../contract/request.js';
import {
  MEASURED_FIELDS,
  type MeasuredField,
  PAST_MAX,
  RELIABILITY_BOUNDS,
  SCORE_FIELDS,
} from '#rules/fields.js';
import { CONTRIBUTORS, TYPICAL_FEATURES } from '../contract/explanation.js';
import { FEATURE_COUNT } from '../contract/features.js';

/** One tensor of a graph; −1 is the batch. */
const TensorSchema = Type.Object({
  name: Type.String(),
  shape: Type.Array(Type.Integer({ minimum: -1 })),
});

const GraphSchema = Type.Object({
  file: Type.String({ pattern: '^[A-Za-z0-9._-]+$' }),
  inputs: Type.Array(TensorSchema),
  outputs: Type.Array(TensorSchema),
});
export type Graph = Type.Static<typeof GraphSchema>;

const probability = Type.Number({ minimum: 0, maximum: 1 });
/** Both are sent in a header. */
const word = Type.String({ pattern: '^[A-Za-z0-9._+-]{1,64}$' });

const ofEachField = <T extends Type.TSchema>(schema: T) =>
  Type.Object(
    Object.fromEntries(MEASURED_FIELDS.map((field) => [field, schema])) as Record<MeasuredField, T>,
  );

/** The bundle's constants for measurements; `night/measured.ts` has the arithmetic. */
const MeasuredSchema = Type.Object({
  /** After this many days a measurement counts half. */
  halfLifeDays: ofEachField(Type.Number({ minimum: 180, maximum: 36_525 })),
  /** For a measurement that comes without one. */
  reliability: ofEachField(Type.Number(RELIABILITY_BOUNDS)),
  /** The weights of the parts of `C_SCORE`. */
  composite: Type.Object({ attention: probability, memory: probability, reasoning: probability }),
  /** Where the numbers come from. */
  sources: Type.Array(Type.String()),
});
export type MeasuredConstants = Type.Static<typeof MeasuredSchema>;

/** `manifest.json` of a model folder. */
export const ManifestSchema = Type.Object({
  format: Type.Literal(1),
  name: word,
  version: word,
  graphs: Type.Object({ base: GraphSchema, history: GraphSchema }),
  features: Type.Array(Type.String()),
  featuresHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** SHA-256, in hex, of each file in the folder that is served or checked. */
  files: Type.Record(Type.String(), Type.String({ pattern: '^[0-9a-f]{64}$' })),
  /** Whether no operator of a graph can run beside another: threads between them then can't help. */
  areChains: Type.Optional(Type.Boolean()),
  /** A label is High from this probability on. */
  thresholds: Type.Object({ valence: probability, arousal: probability }),
  /** A bundle without this accepts no measurements. */
  measured: Type.Optional(MeasuredSchema),
  training: Type.Object({}, { additionalProperties: true }),
});
export type Manifest = Type.Static<typeof ManifestSchema>;

/** The network's label in scores and metrics. Includes the name: two networks may have the same version. */
export function modelLabel({ name, version }: Pick<Manifest, 'name' | 'version'>): string {
  return `${name}/${version}`;
}

/** `golden.json`: requests, with the scores that the network must give for them. */
export const GoldenSchema = Type.Object({
  /** Largest accepted difference of a score, in points. */
  tolerance: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
  cases: Type.Array(
    Type.Object({
      name: Type.String(),
      request: Type.Object({}, { additionalProperties: true }),
      scores: ScoreRecordSchema,
    }),
    { minItems: 1 },
  ),
});
export type Golden = Type.Static<typeof GoldenSchema>;

export const manifestCheck = Compile(ManifestSchema);
export const goldenCheck = Compile(GoldenSchema);

/** The file of a model folder that explains scores: `ExplainTable`. */
export const EXPLAIN_TABLE = 'explain.json';

const exactly = <Items extends Type.TSchema>(items: Items, length: number) =>
  Type.Array(items, { minItems: length, maxItems: length });
const TypicalDay = exactly(Type.Number(), TYPICAL_FEATURES.length);
const perScore = <Items extends Type.TSchema>(items: Items) => exactly(items, SCORE_FIELDS.length);
const share = Type.Number({ minimum: 0, maximum: 1 });

const TypicalSchema = Type.Object({
  /** The ages of the rows below, ascending. */
  ages: Type.Array(Type.Number(), { minItems: 2 }),
  M: Type.Array(TypicalDay),
  F: Type.Array(TypicalDay),
  /** For requests without an age. */
  anyAge: Type.Object({ M: TypicalDay, F: TypicalDay }),
});
export type Typical = Type.Static<typeof TypicalSchema>;

const limits = Type.Number({ minimum: 0 });
/** By number of past sessions: a change, and a group's contribution, is notable beyond this many points. */
const LimitsSchema = Type.Object({
  changes: exactly(perScore(limits), PAST_MAX + 1),
  groups: exactly(exactly(perScore(limits), CONTRIBUTORS.length), PAST_MAX + 1),
});
export type Limits = Type.Static<typeof LimitsSchema>;

/** `explain.json` of a model folder: what the graphs themselves do not say about their scores. */
export const ExplainTableSchema = Type.Object({
  typical: TypicalSchema,
  /** The network's own weights of past sessions, newest first, for each feature. */
  pooling: exactly(exactly(Type.Number({ minimum: 0 }), FEATURE_COUNT), PAST_MAX),
  /** Compared with the last nights (without any, with the typical day), and with the usual day. */
  notable: Type.Object({ lastNights: LimitsSchema, usual: LimitsSchema }),
  /** The explained share of each score, from the model card. */
  explained: Type.Object({ alone: perScore(share), history: perScore(share) }),
  /** Upper bounds of the widest range for high and for medium confidence. */
  widths: Type.Object({ high: Type.Number(), medium: Type.Number() }),
  /**
   * By number of past sessions, then of fields that the current one lacks: how many points the ranges reach below the
   * five scores, then above. Tables of acuity 1.0 have none: a network with such a one explains nothing.
   */
  reach: Type.Optional(
    exactly(Type.Array(exactly(limits, 2 * SCORE_FIELDS.length), { minItems: 1 }), PAST_MAX + 1),
  ),
});
export type ExplainTable = Required<Type.Static<typeof ExplainTableSchema>>;
export const explainTableCheck = Compile(ExplainTableSchema);
