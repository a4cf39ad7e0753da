import { PAST_MAX } from '#rules/fields.js';
import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { recordOf, type ServedModel } from '../../served.js';

/** Scores one person's sessions in their order, each with the last five before it and the scores they got. */
export async function rolledScores(
  model: ServedModel,
  sessions: readonly Session[],
): Promise<Float32Array[]> {
  const found: Float32Array[] = [];
  const records: ScoreRecord[] = [];
  for (const [index, session] of sessions.entries()) {
    const from = Math.max(0, index - PAST_MAX);
    const past =
      index === 0
        ? {}
        : { past_sessions: sessions.slice(from, index), past_targets: records.slice(from, index) };
    const scores = (await model.score({ current_session: session, ...past })).slice();
    records.push(recordOf(scores));
    found.push(scores);
  }
  return found;
}
