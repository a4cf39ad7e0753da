/** Media types beside JSON. */

export const JSON_TYPE = 'application/json';
/** A list of requests, and its answer: JSON in each line. */
export const NDJSON_TYPE = 'application/x-ndjson';

/** The media type of a header `Content-Type`, without its parameters. */
export function mediaTypeOf(contentType: string): string | undefined {
  return contentType.split(';', 1)[0]?.trim().toLowerCase();
}
