import { FormatError } from './formatError.js';

const MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const MIB = 1 << 20;
const WINDOW_MAX = 128 * MIB;
/** The longest frame header: magic number, descriptor, window, dictionary, content size. */
const HEAD_MAX = 4 + 1 + 1 + 4 + 8;
const SMALLEST_HEAD = 5;
const SKIPPABLE_HEAD = 8;
const BLOCK_HEAD = 3;
const CHECKSUM = 4;
const RUN_BLOCK = 1;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const SIZE_BYTES = [0, 2, 4, 8];

/**
 * Reads the frame and block headers (RFC 8878, 3.1) of a stream before the decoder does, since the decoder allocates
 * the window that a frame declares before anything else: a file of 16 bytes can ask for 2 GB.
 */
export class ZstdWindows {
  private readonly head = Buffer.alloc(HEAD_MAX);
  private filled = 0;
  /** Bytes before the next header. */
  private skip = 0;
  private isInFrame = false;
  private checksumBytes = 0;

  /** @throws FormatError if `chunk` starts a frame whose window is too large */
  look(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      const skipped = Math.min(this.skip, chunk.length - at);
      this.skip -= skipped;
      at += skipped;
      if (at < chunk.length) this.take(chunk[at++] ?? 0);
    }
  }

  private take(byte: number): void {
    this.head[this.filled++] = byte;
    if (this.filled < (this.isInFrame ? BLOCK_HEAD : this.frameHeadBytes())) return;
    this.filled = 0;
    if (this.isInFrame) this.block(this.head.readUIntLE(0, BLOCK_HEAD));
    else this.frame();
  }

  private get isSkippable(): boolean {
    return (this.head.readUInt32LE(0) & ~0xf) === SKIPPABLE_MAGIC;
  }

  private frameHeadBytes(): number {
    if (this.filled < SMALLEST_HEAD) return SMALLEST_HEAD;
    if (this.isSkippable) return SKIPPABLE_HEAD;
    const { windowBytes, dictionaryBytes, sizeBytes } = partsOf(this.head[4] ?? 0);
    return SMALLEST_HEAD + windowBytes + dictionaryBytes + sizeBytes;
  }

  private frame(): void {
    const { head } = this;
    if (this.isSkippable) {
      this.skip = head.readUInt32LE(4);
      return;
    }
    if (head.readUInt32LE(0) !== MAGIC) throw new FormatError('the input is no Zstandard data, or damaged');
    const parts = partsOf(head[4] ?? 0);
    const window = parts.windowBytes === 1 ? windowOf(head[5] ?? 0) : sizeOf(head, parts);
    if (window > WINDOW_MAX) {
      throw new FormatError(
        `the Zstandard data need a window of ${Math.ceil(window / MIB)} MiB, and ${WINDOW_MAX / MIB} MiB is the most: ` +
          'compress them without --long, or with --long=27',
      );
    }
    this.isInFrame = true;
    this.checksumBytes = parts.checksumBytes;
  }

  private block(head: number): void {
    const isLast = (head & 1) === 1;
    this.skip = ((head >> 1) & 3) === RUN_BLOCK ? 1 : head >> 3;
    if (!isLast) return;
    this.skip += this.checksumBytes;
    this.isInFrame = false;
  }
}

/** The parts after the descriptor of a frame. */
interface FrameParts {
  readonly windowBytes: 0 | 1;
  readonly dictionaryBytes: number;
  readonly sizeBytes: number;
  readonly checksumBytes: number;
}

function partsOf(descriptor: number): FrameParts {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = SIZE_BYTES[descriptor >> 6] ?? 0;
  return {
    windowBytes: isSingleSegment ? 0 : 1,
    dictionaryBytes: DICTIONARY_BYTES[descriptor & 3] ?? 0,
    sizeBytes: isSingleSegment && sizeBytes === 0 ? 1 : sizeBytes,
    checksumBytes: (descriptor & 4) === 0 ? 0 : CHECKSUM,
  };
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** For a single-segment frame, the window is the whole content. */
function sizeOf(head: Buffer, { dictionaryBytes, sizeBytes }: FrameParts): number {
  const at = SMALLEST_HEAD + dictionaryBytes;
  if (sizeBytes === 8) return Number(head.readBigUInt64LE(at));
  return head.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
}
