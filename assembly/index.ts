export * from './layout';
export { CURRENT, EXPLAIN_FIELD, PAST_SESSIONS, PAST_TARGET, PAST_TARGETS } from './fields';
export { firstBadByte } from './json';
export { markDoubtful, summariseLists } from './lists';
export { SESSION, TARGET, TOP, decodeSeries, numberAt, outlineBody, outlineElements, outlineFields } from './outline';
export { initialise, read } from './request';
export { summarise } from './series';
export { isWithinBounds } from './structure';
export { openText } from './text';
