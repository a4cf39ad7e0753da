import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { CompressionCodec } from 'hyparquet';
import { snappyUncompress } from 'hyparquet/src/snappy.js';
import { decompressLz4, decompressLz4Raw } from 'hyparquet-compressors';
import { snappyUncompressor } from 'hysnappy';
import { ZSTDDecoder } from 'zstddec';

/** Makes `length` bytes of its own of what a page holds. */
export type Decompress = (bytes: Uint8Array, length: number) => Uint8Array;
export type Codecs = Readonly<Partial<Record<CompressionCodec, Decompress>>>;

/** What is larger is not copied through the memory of WebAssembly, which never shrinks. */
const LARGE = 16 << 20;

/** The compressions of Parquet; none sets aside more than `length` and as much as it was given, twice. */
export async function openCodecs(): Promise<Codecs> {
  const zstd = new ZSTDDecoder();
  await zstd.init();
  const snappy = snappyUncompressor();
  return {
    UNCOMPRESSED: (bytes) => bytes.slice(),
    SNAPPY: (bytes, length) => (length > LARGE ? largeSnappy(bytes, length) : snappy(bytes, length)),
    GZIP: (bytes, length) => gunzipSync(bytes, { maxOutputLength: length }),
    BROTLI: (bytes, length) => brotliDecompressSync(bytes, { maxOutputLength: length }),
    LZ4: decompressLz4,
    LZ4_RAW: decompressLz4Raw,
    ZSTD: (bytes, length) => zstd.decode(bytes, length),
  };
}

function largeSnappy(bytes: Uint8Array, length: number): Uint8Array {
  const plain = new Uint8Array(length);
  snappyUncompress(bytes, plain);
  return plain;
}
