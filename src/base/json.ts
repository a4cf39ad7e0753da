/** Reading JSON that may be none. */

/** Undefined if it is no JSON: the engine's message would quote it. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
