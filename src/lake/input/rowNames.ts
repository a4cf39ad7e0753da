import { FIELD_NAMES, KINDS_WITHIN, type ObjectKind } from '#rules/fields.js';
import { nameInAnyCase } from '#rules/slips.js';
import { parsedJson } from '../../base/json.js';
import { NamesError } from '../errors.js';
import type { Partition } from './inputs.js';
import { knownName, meaningOf, nearlyKnown, type InputNames } from './names.js';

/** The field names in rows of NDJSON. */

/** Rows at the beginning of an input that decide which fields it has. */
export const ROWS_SEEN = 100;

/** The field names in the objects of some rows, and in the path of their file; undefined if no row is an object. */
export function namesOfRows(
  rows: Iterable<Uint8Array>,
  partitions: readonly Partition[],
): InputNames | undefined {
  const found: Record<ObjectKind, string[]> = { request: [], session: [], target: [], measurement: [] };
  const objects = Array.from(rows, (row) => [...objectsOf(Buffer.from(row).toString())]).flat();
  if (objects.length === 0) return undefined;
  for (const [kind, names] of objects) found[kind] = [...new Set([...found[kind], ...names])];
  const { request } = found;
  const session = found.session.map(meaningOf);
  const isTwice = (name: string): boolean =>
    knownName(name) === undefined ? request.includes(name) : session.includes(meaningOf(name));
  const ofPath = new Map(partitions.map(({ name }) => [name, isTwice(name)]));
  return { thing: 'field', kinds: found, beside: [...new Set([...request, ...ofPath.keys()])], ofPath };
}

/** The names in each object of a row, with its kind. */
function* objectsOf(text: string): Generator<readonly [kind: ObjectKind, names: readonly string[]]> {
  const row = parsedJson(text); // what is no JSON is refused as such
  if (!isObject(row)) return;
  yield ['request', Object.keys(row)];
  for (const [name, value] of Object.entries(row)) {
    const field = nameInAnyCase(name, 'request') ?? name;
    const kind = KINDS_WITHIN.get(field);
    // A value of another form costs its row.
    const items: readonly unknown[] =
      field === 'current_session' ? [value] : Array.isArray(value) ? value : [];
    for (const item of items) if (kind !== undefined && isObject(item)) yield [kind, Object.keys(item)];
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const KNOWN: readonly string[] = [...new Set(Object.values(FIELD_NAMES).flat())];
/** Cheap, since series have no names. */
const NEARLY = new RegExp(`"\\s*(${KNOWN.join('|')})\\s*"`, 'gi');

/** Ends the run at a row with a name that is nearly the contract's. `asked` names are the caller's own. @throws NamesError */
export function refuseNearlyKnown(row: Uint8Array, number: number, asked: readonly string[]): void {
  const text = Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString();
  if (![...text.matchAll(NEARLY)].some(([name]) => !KNOWN.includes(name.slice(1, -1)))) return;
  for (const [kind, names] of objectsOf(text))
    for (const name of names) {
      const slip = asked.includes(name) ? undefined : nearlyKnown(name, kind, 'field');
      if (slip !== undefined) throw new NamesError(`row ${number}: ${slip}`);
    }
}
