import type { DataPageHeader, PageHeader } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import type { Codecs, Decompress } from './parquetCodecs.js';
import { readInto, type Chunk, type OpenFile } from './parquetFooter.js';

type DataPageHeaderV2 = NonNullable<PageHeader['data_page_header_v2']>;

/** The header of a page, and where its content is. */
export interface PageHead {
  readonly header: PageHeader;
  readonly start: number;
  readonly end: number;
}

/** Headers are some 50 bytes; statistics of long texts may make one longer. */
const HEAD_BYTES = 1 << 10;
const HEAD_MAX = 1 << 24;

/** The page headers of a chunk, in order; does not read the content between them. */
export function* pageHeads(file: OpenFile, chunk: Chunk): Generator<PageHead, void, undefined> {
  for (let at = chunk.start; at < chunk.end;) {
    const head = headAt(file, at, chunk.end);
    yield head;
    at = head.end;
  }
}

function headAt(file: OpenFile, at: number, end: number): PageHead {
  for (let length = HEAD_BYTES; ; length *= 16) {
    const bytes = new Uint8Array(Math.min(length, end - at));
    readInto(file, bytes, at);
    const reader = { view: new DataView(bytes.buffer), offset: 0 };
    try {
      const header = parquetHeader(reader);
      const start = at + reader.offset;
      const page = { header, start, end: start + header.compressed_page_size };
      const isSound =
        header.compressed_page_size >= 0 && header.uncompressed_page_size >= 0 && page.end <= end;
      if (!isSound) throw new Error('a page of the file says a wrong size: it is damaged');
      return page;
    } catch (error) {
      const isCut = error instanceof RangeError && bytes.length < end - at && length < HEAD_MAX;
      if (!isCut) throw error;
    }
  }
}

/** The parts of a data page, decompressed. */
export interface DataPage {
  readonly head: DataPageHeader | DataPageHeaderV2;
  readonly entries: number;
  readonly repetitions: Part;
  readonly definitions: Part;
  readonly values: Part;
}

/** Bytes from `at` to before `end`. */
export interface Part {
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly end: number;
}

/** The decompressor of a chunk. @throws TableError */
export function inflated(codecs: Codecs, codec: Chunk['codec']): Decompress {
  const decompress = codecs[codec];
  if (decompress === undefined) throw new Error(`the compression ${codec}: write the file with another one`);
  return (bytes, length) => {
    const plain = length === 0 ? bytes.subarray(0, 0) : decompress(bytes, length);
    if (plain.length !== length)
      throw new Error('a page of the file holds other than it says: it is damaged');
    return plain;
  };
}

/** Splits a page of lists into its parts; `bytes` may be reused afterwards. */
export function dataPageOf({ header }: PageHead, bytes: Uint8Array, inflate: Decompress): DataPage {
  const { data_page_header: first, data_page_header_v2: second, uncompressed_page_size } = header;
  if (second !== undefined)
    return secondForm(second, bytes, (part, before) =>
      second.is_compressed === false ? part.slice() : inflate(part, uncompressed_page_size - before),
    );
  if (first === undefined) throw new Error('a page of the file has no head: it is damaged');
  if (
    [first.repetition_level_encoding, first.definition_level_encoding].some((encoding) => encoding !== 'RLE')
  )
    throw new Error('levels of the file are bit-packed, as in 2013: write it anew');
  const plain = inflate(bytes, uncompressed_page_size);
  const repetitions = levelsAt(plain, 0);
  const definitions = levelsAt(plain, repetitions.end);
  const values = { bytes: plain, at: definitions.end, end: plain.length };
  return { head: first, entries: first.num_values, repetitions, definitions, values };
}

function levelsAt(bytes: Uint8Array, at: number): Part {
  const start = at + 4;
  if (start > bytes.length) throw new Error('a page of the file ends too early');
  const end = start + new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
  if (end > bytes.length) throw new Error('a page of the file ends too early');
  return { bytes, at: start, end };
}

function secondForm(
  head: DataPageHeaderV2,
  bytes: Uint8Array,
  inflate: (part: Uint8Array, before: number) => Uint8Array,
): DataPage {
  const { repetition_levels_byte_length: first, definition_levels_byte_length: second } = head;
  const before = first + second;
  if (!(first >= 0 && second >= 0 && before <= bytes.length))
    throw new Error('a page of the file ends too early');
  const levels = bytes.slice(0, before);
  const plain = inflate(bytes.subarray(before), before);
  return {
    head,
    entries: head.num_values,
    repetitions: { bytes: levels, at: 0, end: first },
    definitions: { bytes: levels, at: first, end: before },
    values: { bytes: plain, at: 0, end: plain.length },
  };
}

/** Reads the content of pages; each is valid until the next one is read, from any column. */
export class PageBodies {
  private bytes: Uint8Array = new Uint8Array(0);

  constructor(private readonly file: OpenFile) {}

  of({ start, end }: PageHead): Uint8Array {
    const length = end - start;
    if (length > this.bytes.length) this.bytes = new Uint8Array(length);
    const body = this.bytes.subarray(0, length);
    readInto(this.file, body, start);
    return body;
  }
}
