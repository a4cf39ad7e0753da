import { AdapterError } from '../adapterError.js';
import { Field } from '../field.js';

/** One record of Apple Health: an element of the export, or an object of an app. @internal */
export interface HealthRecord {
  readonly type: string;
  /** The field to name if it can't be read. */
  readonly field: Field;
  readonly get: (attribute: string) => Field;
}

const PIECE_MIN = 65_536;
/** Longer than any element: a text without an end by then is not the export. */
const ELEMENT_MAX = 1_048_576;

/**
 * The time of the export and its records of some types, in one pass. Read a record at once and do not keep it: it
 * keeps its whole piece of text in memory. @internal
 */
export function* elementsOf(
  pieces: Iterable<string>,
  types: ReadonlySet<string>,
  zone: string | undefined,
): Generator<HealthRecord | { readonly exportedAt: string }> {
  const root = new Field({ Record: null }, 'export', zone).get('Record');
  let records = 0;
  let hasRoot = false;
  for (const text of wholeElements(pieces)) {
    hasRoot ||= text.includes('<HealthData');
    if (!hasRoot) notTheExport(text);
    for (const [, kind, attributes = ''] of text.matchAll(/<(Record|ExportDate)\s([^>]*)>/g)) {
      if (kind === 'ExportDate') {
        yield { exportedAt: attributeOf(attributes, 'value') ?? '' };
        continue;
      }
      const type = attributeOf(attributes, 'type') ?? '';
      const index = records++;
      if (!types.has(type)) continue;
      const field = new Field(undefined, index, zone, root);
      yield { type, field, get: (name) => new Field(attributeOf(attributes, name), name, zone, field) };
    }
  }
  if (!hasRoot) notTheExport('');
}

/** The text again, cut between elements. */
function* wholeElements(pieces: Iterable<string>): Generator<string> {
  let rest = '';
  for (const piece of pieces) {
    if (typeof piece !== 'string') throw new AdapterError(['export'], 'expected text, not bytes');
    rest += piece;
    if (rest.length < PIECE_MIN) continue;
    const end = rest.lastIndexOf('>') + 1;
    if (end === 0 && rest.length > ELEMENT_MAX) notTheExport(rest);
    yield rest.slice(0, end);
    rest = rest.slice(end);
  }
  yield rest;
}

function notTheExport(text: string): never {
  const begin = text.trimStart();
  const look = begin.startsWith('PK')
    ? '; this is the archive: unpack it first'
    : /^[[{]/.test(begin)
      ? '; this is JSON'
      : '';
  throw new AdapterError(['export'], `expected the text of export.xml, with HealthData${look}`);
}

function attributeOf(attributes: string, name: string): string | undefined {
  const sign = `${name}="`;
  const at = attributes.startsWith(sign) ? 0 : attributes.indexOf(` ${sign}`) + 1;
  if (at === 0 && !attributes.startsWith(sign)) return undefined;
  const begin = at + sign.length;
  const end = attributes.indexOf('"', begin);
  return end < 0 ? undefined : attributes.slice(begin, end);
}
