/** All that the host calls and reads. */
export * from './layout';
export {
  CURRENT_SESSION_FIELD,
  EXPLAIN_FIELD,
  HISTORY_FIELD,
  MEASUREMENTS_FIELD,
  NIGHT_FIELD,
  PAST_SESSIONS_FIELD,
  PAST_TARGETS_FIELD,
  PAST_TARGET_FIELD,
} from './fields';
export { firstBadByte } from './json';
export { moveSessions, placeSession, readHistory, readHistoryBytes, writeHistory } from './history';
export { keepFields } from './kept';
export { markDoubtful, summariseLists } from './lists';
export { MEASUREMENT, SESSION, TARGET, TOP, decodeSeries, numberAt, outlineBody, outlineElements, outlineFields } from './outline';
export { DEFERRED_RECORDING, initialise, read } from './request';
export { summarise } from './series';
export { isWithinBounds, scalarCount } from './structure';
export { openText } from './text';
