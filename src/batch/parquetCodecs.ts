import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { CompressionCodec } from 'hyparquet';
import { snappyUncompress } from 'hyparquet/src/snappy.js';
import { decompressLz4, decompressLz4Raw } from 'hyparquet-compressors';
import { snappyUncompressor } from 'hysnappy';
import { ZSTDDecoder } from 'zstddec';

/** Decompresses a page to `length` bytes of new memory. */
export type Decompress = (bytes: Uint8Array, length: number) => Uint8Array;
export type Codecs = Readonly<Partial<Record<CompressionCodec, Decompress>>>;

/** Larger pages are not copied through WebAssembly memory, which never shrinks. */
const LARGE = 16 << 20;

/** The compressions of Parquet; each allocates at most `length` and twice the size of its input. */
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
