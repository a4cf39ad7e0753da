/** Reads the export of Apple's Health app, gigabytes of XML, as a stream of records. */
import { closeSync, openSync, readSync } from 'node:fs';
import { AdapterError } from '#adapters/adapterError.js';
import { Field } from '#adapters/field.js';

/** Read at once; an element is far shorter, so what is kept of the end is little. */
const PIECE_BYTES = 4 << 20;
const ELEMENT_BYTES_MAX = 1 << 20;
const LESS = 0x3c;
const RECORD = /^<Record\s/;
const EXPORT_DATE = '<ExportDate';
const ATTRIBUTES = /\s([\w:.-]+)\s*=\s*("[^"]*"|'[^']*')/g;

/**
 * The attributes of the `Record` elements of some types in an export of the Health app, type by type within each
 * piece of the file.
 *
 * The types are looked for as bytes and only their elements are read as text, so most of the file passes at the speed
 * of the disk: a parser of XML (saxes 6.0) takes several times as long. An element goes from one `<` to before the next:
 * XML allows `>` within an attribute, and `<` nowhere but at a beginning.
 * @throws AdapterError if it is no such export
 */
export function* healthRecords(
  file: string,
  types: readonly string[],
  zone: string | undefined,
): Generator<Field> {
  const wanted = types.map((type) => ({
    type,
    needle: Buffer.from(type),
    field: typeField(type, zone),
  }));
  const counts = new Map<string, number>();
  for (const piece of wholeElements(file)) {
    for (const { type, needle, field: ofType } of wanted) {
      for (let at = piece.indexOf(needle); at >= 0; at = piece.indexOf(needle, at + needle.length)) {
        const text = elementAt(piece, piece.lastIndexOf(LESS, at));
        if (!RECORD.test(text)) continue;
        const attributes = attributesOf(text);
        if (attributes['type'] !== type) continue; // a longer name, or another attribute
        const index = counts.get(type) ?? 0;
        counts.set(type, index + 1);
        yield new Field(attributes, index, zone, ofType);
      }
    }
  }
}

/** When the export was made; undefined if it does not say so. */
export function exportedAt(file: string): string | undefined {
  for (const piece of wholeElements(file)) {
    const at = piece.indexOf(EXPORT_DATE);
    return at < 0 ? undefined : attributesOf(elementAt(piece, at))['value'];
  }
  return undefined;
}

function typeField(type: string, zone: string | undefined): Field {
  return new Field(undefined, 'export', zone).get(type);
}

/** The file in pieces of whole elements; each is valid until the next one is asked for. */
function* wholeElements(file: string): Generator<Buffer> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES + ELEMENT_BYTES_MAX);
  const descriptor = openSync(file, 'r');
  try {
    let kept = 0;
    for (let isFirst = true; ; isFirst = false) {
      const read = readSync(descriptor, buffer, kept, PIECE_BYTES, null);
      const filled = buffer.subarray(0, kept + read);
      if (isFirst) checkBeginning(filled);
      const end = read === 0 ? filled.length : Math.max(filled.lastIndexOf(LESS), 0);
      if (filled.length - end > ELEMENT_BYTES_MAX) refuse(filled);
      yield filled.subarray(0, end);
      if (read === 0) return checkEnd(filled.subarray(0, end), file);
      kept = filled.copy(buffer, 0, end);
    }
  } finally {
    closeSync(descriptor);
  }
}

function checkBeginning(bytes: Buffer): void {
  if (!bytes.includes('<HealthData')) refuse(bytes);
}

/** @throws AdapterError if what follows the last `<` is not the end of an export: nights would lack samples, or be lost */
function checkEnd(last: Buffer, file: string): void {
  if (!last.includes('</HealthData>'))
    throw new AdapterError(['export'], `${file} is cut short: </HealthData> is missing at its end`);
}

function refuse(bytes: Buffer): never {
  const begin = bytes.toString('latin1', 0, 64).trimStart();
  const look = begin.startsWith('PK')
    ? '; this is the archive: unpack it first'
    : /^[[{]/.test(begin)
      ? '; this is JSON: its provider is another, such as health_auto_export'
      : '';
  throw new AdapterError(['export'], `expected export.xml of the Health app, with HealthData${look}`);
}

/** From its `<` at `begin` on. */
function elementAt(piece: Buffer, begin: number): string {
  const next = piece.indexOf(LESS, begin + 1);
  return piece.toString('utf8', begin, next < 0 ? piece.length : next);
}

function attributesOf(element: string): Readonly<Record<string, string | undefined>> {
  const attributes: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [, name = '', quoted = ''] of element.matchAll(ATTRIBUTES))
    attributes[name] = unescaped(quoted.slice(1, -1));
  return attributes;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi, (all, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[String(name)] ?? String(all);
    const code = hex === undefined ? Number(decimal) : parseInt(String(hex), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : String(all);
  });
}
