import { FIELD_NAMES, type ObjectKind } from '#rules/fields.js';
import { NAME_LENGTH_MAX, nameInAnyCase } from '#rules/slips.js';
import { UNPROCESSABLE } from '../contract/problems.js';
import type { InputNames } from './inputNames.js';
import type { RowProblem } from './rowProblem.js';

/** The field names in rows of NDJSON. */

/** Rows at the beginning of an input that decide which fields it has. */
export const ROWS_SEEN = 100;

/** Where a request has objects with the contract's names. */
const LISTS: Readonly<Record<string, ObjectKind>> = {
  past_sessions: 'session',
  past_targets: 'target',
  past_target: 'target',
  measurements: 'measurement',
};

interface Named {
  readonly kind: ObjectKind;
  readonly names: readonly string[];
}

/** The field names in the objects of some rows; undefined if no row is an object. */
export function namesOfRows(rows: Iterable<Uint8Array>): InputNames | undefined {
  const found: Record<ObjectKind, Set<string>> = {
    request: new Set(),
    session: new Set(),
    target: new Set(),
    measurement: new Set(),
  };
  let isAny = false;
  for (const row of rows) {
    for (const { kind, names } of objectsOf(Buffer.from(row).toString())) {
      isAny = true;
      for (const name of names) found[kind].add(name);
    }
  }
  if (!isAny) return undefined;
  const { request, session, target, measurement } = found;
  const kinds = {
    request: [...request],
    session: [...session],
    target: [...target],
    measurement: [...measurement],
  };
  return { thing: 'field', kinds, beside: kinds.request };
}

const KNOWN: ReadonlySet<string> = new Set(Object.values(FIELD_NAMES).flat());
const SMALL: ReadonlySet<string> = new Set([...KNOWN].map((name) => name.toLowerCase()));

/**
 * The end of the string that begins at `begin`: a quote not preceded by an odd number of backslashes; −1 if there is
 * none.
 */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

/**
 * Whether a string in `text` is a name of the contract in another case. Jumps from quote to quote: series have none.
 */
function hasOtherCase(text: string): boolean {
  for (let begin = text.indexOf('"'); begin >= 0;) {
    const end = endOfString(text, begin);
    if (end < 0) return false;
    const length = end - begin - 1;
    if (length > 2 && length <= NAME_LENGTH_MAX) {
      const name = text.slice(begin + 1, end);
      if (!KNOWN.has(name) && SMALL.has(name.toLowerCase())) return true;
    }
    begin = text.indexOf('"', end + 1);
  }
  return false;
}

function* objectsOf(text: string): Generator<Named> {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch {
    return; // it is refused as invalid JSON
  }
  if (!isObject(row)) return;
  yield { kind: 'request', names: Object.keys(row) };
  for (const [name, value] of Object.entries(row)) {
    const field = nameInAnyCase(name, 'request') ?? name;
    if (field === 'current_session' && isObject(value)) yield { kind: 'session', names: Object.keys(value) };
    const kind = LISTS[field];
    if (kind === undefined || !Array.isArray(value)) continue;
    for (const item of value as unknown[]) if (isObject(item)) yield { kind, names: Object.keys(item) };
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Strings, with the colon after keys; starts and ends of objects. */
const TOKEN = /"((?:[^"\\]|\\.)*)"(\s*:)?|[{}]/g;
const TWICE: RowProblem = {
  status: UNPROCESSABLE.status,
  detail: 'a field twice, in two cases of its letters: leave one out',
};

/** A row with the contract's names in their exact case; numbers keep their digits. */
export function inOwnCase(row: Uint8Array): Uint8Array | RowProblem {
  const text = Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString('latin1');
  if (!hasOtherCase(text)) return row;
  /** How each name was written, for each open object. */
  const open: Map<string, string>[] = [];
  let kind: ObjectKind | undefined;
  let isTwice = false;
  const renamed = text.replaceAll(TOKEN, (token, name: string | undefined, colon: string | undefined) => {
    if (token === '{') open.push(new Map());
    if (token === '}') open.pop();
    if (name === undefined || colon === undefined || open.length > 2) return token;
    const own = open.length === 1 ? nameInAnyCase(name, 'request') : kind && nameInAnyCase(name, kind);
    if (open.length === 1) kind = own === 'current_session' ? 'session' : LISTS[own ?? ''];
    if (own === undefined) return token;
    const written = open.at(-1);
    if ((written?.get(own) ?? name) !== name) isTwice = true;
    written?.set(own, name);
    return `"${own}"${colon}`;
  });
  return isTwice ? TWICE : Buffer.from(renamed, 'latin1');
}
