import { KINDS_WITHIN, type ObjectKind } from '#rules/fields.js';
import { nameInAnyCase } from '#rules/slips.js';
import { parsedJson } from '../../base/json.js';
import { NamesError } from '../errors.js';
import type { Partition } from './inputs.js';
import type { Line } from './lineSplitter.js';
import {
  knownName,
  meaningOf,
  namesBeside,
  nearlyKnownIn,
  slipsOf,
  type InputNames,
  type RowColumns,
} from './names.js';

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

/** A text in a row, or what begins as one, with the colon after a name: no letter is looked at twice. */
const TEXT = /"((?:[^"\\]|\\(?:[^]|$))*)(?:"(\s*:)?|$)/g;
/** Longer ones are near none. */
const LETTERS_MAX = 64;
const SEEN_MAX = 10_000;

/** The names in the rows of an input, each looked at once: to read all rows for them would cost more than to score them. */
export class SeenNames {
  private readonly seen = new Set<string>();
  private readonly told: Set<string>;

  /** `first`: the rows by which the input was opened, with their `names`; `tell` gets remarks on others, each once. */
  constructor(
    first: readonly Line[],
    names: InputNames | undefined,
    private readonly columns: RowColumns,
    private readonly tell: (remark: string) => void,
  ) {
    this.told = new Set(names && slipsOf(names, columns));
    for (const { bytes } of first) if (bytes !== undefined) this.hasNew(bytes);
  }

  /** Looks at the names of a row with unknown ones. @throws NamesError if one is nearly the contract's, which ends the run */
  look(row: Uint8Array, number: number): void {
    const names = this.hasNew(row) ? namesOfRows([row], []) : undefined;
    if (names === undefined) return;
    const [problem] = nearlyKnownIn(names, namesBeside(this.columns));
    if (problem !== undefined) throw new NamesError(`row ${number}: ${problem}`);
    for (const slip of slipsOf(names, this.columns)) {
      if (!this.told.has(slip)) this.tell(`row ${number}: ${slip}`);
      this.told.add(slip);
    }
  }

  private hasNew(row: Uint8Array): boolean {
    const { seen } = this;
    const text = Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString();
    let hasNew = false;
    for (const [, name = '', colon] of text.matchAll(TEXT)) {
      if (colon === undefined || name.length > LETTERS_MAX || seen.has(name)) continue;
      hasNew = true;
      // A copy: a part would hold the whole row.
      if (seen.size < SEEN_MAX) seen.add(Buffer.from(name).toString());
    }
    return hasNew;
  }
}
