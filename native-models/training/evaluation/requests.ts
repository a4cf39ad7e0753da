import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { PAST_MAX } from '#rules/fields.js';
import type { Plan, World } from '../cohort/population.js';
import { sessionOf } from '../cohort/session.js';
import { recordOf, type ServedModel } from '../served.js';

/** The sessions of a simulation as callers send them, by person. */
export function livesOf(world: World, people: number, days: number, plan: Plan): Session[][] {
  const lives = Array.from({ length: people }, (): Session[] => []);
  world.simulate(people, days, { ...plan, look: (recording, index) => lives[index]?.push(sessionOf(recording)) }); // prettier-ignore
  return lives;
}

/** Scores `session` with the last five of `past`, and what these were scored. */
export async function scoreAfter(
  model: ServedModel,
  session: Session,
  past: readonly Session[],
  targets: readonly ScoreRecord[],
): Promise<Float32Array> {
  const history =
    past.length === 0 ? {} : { past_sessions: past.slice(-PAST_MAX), past_targets: targets.slice(-PAST_MAX) };
  return (await model.score({ current_session: session, ...history })).slice();
}

/** Scores one person's sessions in their order, each with the last five before it and the scores they got. */
export async function follow(model: ServedModel, sessions: readonly Session[]): Promise<Float32Array[]> {
  const found: Float32Array[] = [];
  const records: ScoreRecord[] = [];
  for (const [index, session] of sessions.entries()) {
    const scores = await scoreAfter(model, session, sessions.slice(0, index), records);
    records.push(recordOf(scores));
    found.push(scores);
  }
  return found;
}
