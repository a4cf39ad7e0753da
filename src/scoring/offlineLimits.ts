/**
 * Limits of a scorer for files, where no caller waits. It sheds no request and does not look for hangs,
 * because the time lost by a stopped or suspended process would look like one.
 */
export const OFFLINE_LIMITS = { deadlineMs: Infinity, hangMs: 2 ** 31 - 1 } as const;
