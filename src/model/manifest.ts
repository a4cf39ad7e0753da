import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { ScoreRecordSchema } from '../contract/request.js';
import { MEASURED_FIELDS, RELIABILITY_BOUNDS, type MeasuredField } from '#rules/fields.js';

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

/** The bundle's constants for measurements; `pipeline/measured.ts` has the arithmetic. */
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
  graphs: Type.Object({ base: GraphSchema, history: GraphSchema, explain: Type.Optional(GraphSchema) }),
  features: Type.Array(Type.String()),
  featuresHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** SHA-256, in hex, of each file in the folder that is served or checked. */
  files: Type.Record(Type.String(), Type.String({ pattern: '^[0-9a-f]{64}$' })),
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

/** The file beside the graph of explained requests: `ExplainTable`. */
export const EXPLAIN_TABLE = 'explain.json';
