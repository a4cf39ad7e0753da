/** Where the page `/try` sends its requests; no other path of the admin listener takes a body. */
export const TRY_PATH = '/try/score';
/** A session of averages, a history and some measurements need a tenth of this. */
export const TRY_BODY_BYTES_MAX = 65_536;
