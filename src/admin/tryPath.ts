/** Where the page `/try` sends its requests; no other path of the admin listener takes a body. */
export const TRY_PATH = '/try/score';
/** A day of heart rate from most providers; a session of averages with a history needs little of it. */
export const TRY_BODY_BYTES_MAX = 1_048_576;
