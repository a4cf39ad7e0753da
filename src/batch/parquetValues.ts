import type { Encoding } from 'hyparquet';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readVarInt } from 'hyparquet/src/thrift.js';
import { HybridReader } from './hybridReader.js';
import type { Part } from './parquetPages.js';

export type Samples = Float32Array | Float64Array;

/** The number types of Parquet, and those stored as them. */
export type NumberType = 'FLOAT' | 'DOUBLE' | 'INT32' | 'UINT32' | 'INT64' | 'UINT64';

const WIDTHS: Readonly<Record<NumberType, number>> = {
  FLOAT: 4,
  DOUBLE: 8,
  INT32: 4,
  UINT32: 4,
  INT64: 8,
  UINT64: 8,
};

/** Reads the numbers of a page in order. */
export interface ValueReader {
  /** Reads the next `count` numbers into `out`, from index `at` on. */
  read(out: Samples, at: number, count: number): void;
}

/** An array for numbers of `type`: 32-bit if no digit is lost. */
export function samplesFor(type: NumberType, length: number): Samples {
  return type === 'FLOAT' ? new Float32Array(length) : new Float64Array(length);
}

/** Most numbers in a delta-encoded page: they take far less room than the values. */
const DELTAS_MAX = 1 << 24;

/** @throws TableError for encodings that don't hold numbers */
export function valueReader(
  encoding: Encoding,
  type: NumberType,
  part: Part,
  dictionary: Samples | undefined,
): ValueReader {
  const length = part.end - part.at;
  switch (encoding) {
    case 'PLAIN':
      return new PlainValues(type, part);
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY':
      if (dictionary === undefined) throw new Error('a dictionary of the file is missing');
      return new DictionaryValues(dictionary, part);
    case 'BYTE_STREAM_SPLIT':
      return new PlainValues(type, joined(part, length / WIDTHS[type], WIDTHS[type]));
    case 'DELTA_BINARY_PACKED':
      return new PlainValues(type, summed(part, type));
    default:
      throw new Error(`numbers written as ${encoding}, which no reader of lists takes`);
  }
}

/** The dictionary of a column that refers to its values by index. */
export function dictionaryOf(type: NumberType, bytes: Uint8Array, count: number): Samples {
  if (count * WIDTHS[type] > bytes.length) throw new Error('a page of the file ends too early');
  const numbers = samplesFor(type, count);
  new PlainValues(type, { bytes, at: 0, end: bytes.length }).read(numbers, 0, count);
  return numbers;
}

class PlainValues implements ValueReader {
  private at: number;

  constructor(
    private readonly type: NumberType,
    private readonly part: Part,
  ) {
    this.at = part.at;
  }

  read(out: Samples, at: number, count: number): void {
    const { part, type } = this;
    const from = this.at;
    this.at += count * WIDTHS[type];
    if (this.at > part.end) throw new Error('a page of the file ends too early');
    const bytes = part.bytes.subarray(from, this.at);
    if (type === 'FLOAT' || type === 'DOUBLE') {
      new Uint8Array(out.buffer, at * WIDTHS[type], bytes.length).set(bytes);
      return;
    }
    const words = bytes.slice().buffer; // a copy, so that the numbers are aligned
    const low = new Uint32Array(words);
    if (type === 'UINT32') out.set(low, at);
    else if (type === 'INT32') out.set(new Int32Array(words), at);
    else {
      const high = type === 'INT64' ? new Int32Array(words) : low;
      for (let index = 0; index < count; index++)
        out[at + index] = (high[2 * index + 1] ?? 0) * 2 ** 32 + (low[2 * index] ?? 0);
    }
  }
}

/** Indices looked up together. */
const LOOKED_UP = 4096;

class DictionaryValues implements ValueReader {
  private readonly indices: HybridReader;
  private readonly some = new Uint32Array(LOOKED_UP);

  constructor(
    private readonly dictionary: Samples,
    { bytes, at, end }: Part,
  ) {
    this.indices = new HybridReader({ bytes, at: Math.min(at + 1, end), end }, bytes[at] ?? 0);
  }

  read(out: Samples, at: number, count: number): void {
    const { dictionary, some } = this;
    for (const last = at + count; at < last;) {
      const length = Math.min(LOOKED_UP, last - at);
      this.indices.read(some, 0, length);
      // An index outside the dictionary, from a damaged file, becomes NaN, and its row is refused.
      for (let index = 0; index < length; index++) out[at + index] = dictionary[some[index] ?? 0] ?? NaN;
      at += length;
    }
  }
}

/** Joins numbers of `width` bytes stored as all first bytes, then all second ones, and so on. */
function joined({ bytes, at }: Part, count: number, width: number): Part {
  const whole = new Uint8Array(count * width);
  for (let byte = 0; byte < width; byte++)
    for (let index = 0; index < count; index++) whole[index * width + byte] = bytes[at++] ?? 0;
  return { bytes: whole, at: 0, end: whole.length };
}

function summed({ bytes, at, end }: Part, type: NumberType): Part {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, end - at);
  const head = { view, offset: 0 };
  readVarInt(head); // values per block
  readVarInt(head);
  const count = readVarInt(head) >>> 0;
  if (count > DELTAS_MAX) throw new Error('a page of the file has too many differences: write smaller pages');
  const numbers = WIDTHS[type] === 4 ? new Int32Array(count) : new BigInt64Array(count);
  if (count > 0) deltaBinaryUnpack({ view, offset: 0 }, count, numbers);
  return { bytes: new Uint8Array(numbers.buffer), at: 0, end: numbers.byteLength };
}
