import { FIELD_NAMES, type ObjectKind } from '#rules/fields.js';
import { NAME_LENGTH_MAX, nameInAnyCase } from '#rules/slips.js';
import { UNPROCESSABLE } from '../contract/problems.js';
import type { Partition } from './inputs.js';
import { jsonIn } from './lineSplitter.js';
import type { InputNames } from './names.js';
import type { RowProblem } from './errors.js';

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

/** The field names in the objects of some rows, and in the path of their file; undefined if no row is an object. */
export function namesOfRows(
  rows: Iterable<Uint8Array>,
  partitions: readonly Partition[],
): InputNames | undefined {
  const found: Record<ObjectKind, string[]> = { request: [], session: [], target: [], measurement: [] };
  const objects = Array.from(rows, (row) => [...objectsOf(Buffer.from(row).toString())]).flat();
  if (objects.length === 0) return undefined;
  for (const { kind, names } of objects) found[kind] = [...new Set([...found[kind], ...names])];
  const { request } = found;
  const ofPath = new Map(partitions.map(({ name }) => [name, request.includes(name)]));
  return { thing: 'field', kinds: found, beside: [...new Set([...request, ...ofPath.keys()])], ofPath };
}

function* objectsOf(text: string): Generator<Named> {
  const row = jsonIn(text); // what is no JSON is refused as such
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

const KNOWN: ReadonlySet<string> = new Set(Object.values(FIELD_NAMES).flat());
const SMALL: ReadonlySet<string> = new Set([...KNOWN].map((name) => name.toLowerCase()));

/** Whether what stands between two quotes may be a name of the contract in another case; cheap, since series have none. */
function mayHaveOtherCase(text: string): boolean {
  return text
    .split('"')
    .some((part) => part.length <= NAME_LENGTH_MAX && !KNOWN.has(part) && SMALL.has(part.toLowerCase()));
}

/** A row with the contract's names in their exact case; numbers keep their digits. */
export function inOwnCase(row: Uint8Array): Uint8Array | RowProblem {
  const text = Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString('latin1');
  if (!mayHaveOtherCase(text)) return row;
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
