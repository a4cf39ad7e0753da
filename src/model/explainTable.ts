import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { CONTRIBUTORS, TYPICAL_FEATURES } from '../contract/explanation.js';
import { FEATURE_COUNT } from '../contract/features.js';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';

const exactly = <Items extends Type.TSchema>(items: Items, length: number) =>
  Type.Array(items, { minItems: length, maxItems: length });
const TypicalDay = exactly(Type.Number(), TYPICAL_FEATURES.length);
const perScore = <Items extends Type.TSchema>(items: Items) => exactly(items, SCORE_FIELDS.length);
const share = Type.Number({ minimum: 0, maximum: 1 });

const TypicalSchema = Type.Object({
  /** Ages that the rows below stand for, ascending. */
  ages: Type.Array(Type.Number(), { minItems: 2 }),
  M: Type.Array(TypicalDay),
  F: Type.Array(TypicalDay),
  /** For whoever does not tell the age. */
  anyAge: Type.Object({ M: TypicalDay, F: TypicalDay }),
});
export type Typical = Type.Static<typeof TypicalSchema>;

const limits = Type.Number({ minimum: 0 });
/** By number of past sessions: points beyond which a change, and what a group adds, are notable. */
const LimitsSchema = Type.Object({
  changes: exactly(perScore(limits), PAST_MAX + 1),
  groups: exactly(exactly(perScore(limits), CONTRIBUTORS.length), PAST_MAX + 1),
});
export type Limits = Type.Static<typeof LimitsSchema>;

/** `explain.json` of a model folder: what a network's graph does not say about its scores. */
export const ExplainTableSchema = Type.Object({
  typical: TypicalSchema,
  /** The network's own weights of past sessions, newest first, for each feature. */
  pooling: exactly(exactly(Type.Number({ minimum: 0 }), FEATURE_COUNT), PAST_MAX),
  /** Against the last nights, or without any against the typical day; and against the usual day. */
  notable: Type.Object({ lastNights: LimitsSchema, usual: LimitsSchema }),
  /** Explained share of each score, of the model card. */
  explained: Type.Object({ alone: perScore(share), history: perScore(share) }),
  /** Up to such a width of the widest range confidence is high, or medium. */
  widths: Type.Object({ high: Type.Number(), medium: Type.Number() }),
});
export type ExplainTable = Type.Static<typeof ExplainTableSchema>;
export const explainTableCheck = Compile(ExplainTableSchema);
