/** The cells of CSV as JSON. */

/** A number in JSON's notation. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const NUMBERS =
  /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?:[\s;|]+-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)*$/;
const LIST_GAP = /[\s;|]+/;
/** An array that ends where the cell ends, recognised without decoding: no nested brackets, no text. */
const PLAIN_ARRAY = /^\[[^[\]{}"]*\]$/;

/** Undefined if the cell is not one whole array: the text after it would become fields of the session. */
export function listOfCell(cell: string): string | undefined {
  const text = cell.trim();
  if (text.startsWith('[')) return PLAIN_ARRAY.test(text) || isArray(text) ? text : undefined;
  if (NUMBERS.test(text)) return `[${text.replaceAll(/[\s;|]+/g, ',')}]`;
  return `[${text.split(LIST_GAP).map(valueOfCell).join(',')}]`;
}

function isArray(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

export function valueOfCell(text: string): string {
  return NUMBER.test(text) ? text : JSON.stringify(text);
}

/** Text without surrounding space; a numeric text becomes a number; undefined if empty. */
export function trimmedCell(text: string): string | number | undefined {
  const inner = text.trim();
  if (inner === '') return undefined;
  return Number.isFinite(Number(inner)) ? Number(inner) : inner;
}
