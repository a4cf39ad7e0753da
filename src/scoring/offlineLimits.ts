/**
 * How a scorer is set up for work on files, where no caller waits: it sheds no request, and it looks for no hang,
 * because the time that a stopped or suspended process lost would look like one.
 */
export const OFFLINE_LIMITS = { deadlineMs: Infinity, hangMs: 2 ** 31 - 1 } as const;
