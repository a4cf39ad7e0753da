import Type from 'typebox';
import { ScoreRecordSchema } from './request.js';

/** The body of a 200: the seven scores, numbers rounded to two decimals, and the model's time. */
export const PredictionResponseSchema = Type.Object({
  ...ScoreRecordSchema.properties,
  inference_time_ms: Type.Number({
    minimum: 0,
    description: 'Milliseconds that the model run holding this request took.',
  }),
});
export type PredictionResponse = Type.Static<typeof PredictionResponseSchema>;
