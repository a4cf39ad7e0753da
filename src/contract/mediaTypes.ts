/** Media types beside JSON. */

export const JSON_TYPE = 'application/json';
/** A list of requests, and its answer: JSON in each line. */
export const NDJSON_TYPE = 'application/x-ndjson';
