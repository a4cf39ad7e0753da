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

/** `explain.json` of a model folder: what the graph itself does not say about its scores. */
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
});
export type ExplainTable = Type.Static<typeof ExplainTableSchema>;
export const explainTableCheck = Compile(ExplainTableSchema);
