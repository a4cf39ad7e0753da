import type { ScoreRecord } from '#acuity/contract/request.js';
import { recordOf, type ServedModel } from '../served.js';
import type { ScoreAll } from './former.js';

/** Scores requests one after the other in this thread, as a caller would get them back. */
export function scoring(model: ServedModel): ScoreAll {
  return async (bodies) => {
    const records: ScoreRecord[] = [];
    for (const body of bodies) records.push(recordOf(await model.score(body)));
    return records;
  };
}
