/**
 * How a scorer is set up where nobody waits for an answer: no request is ever shed, and it looks for no hang, because
 * the time that a stopped or suspended process lost would look like one.
 */
export const NOBODY_WAITS = { deadlineMs: Infinity, hangMs: 2 ** 31 - 1 } as const;
