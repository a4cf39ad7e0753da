import type { Part } from './parquetPages.js';

/** Wider values would not fit the available bits; only a dictionary of over 16 million values needs them. */
const WIDTH_MAX = 24;

/** Reads integers of a fixed width in Parquet's RLE and bit-packing hybrid encoding, any number at a time. */
export class HybridReader {
  private readonly mask: number;
  /** Values left in the current run. */
  private left = 0;
  private isPacked = false;
  /** The value of an RLE run. */
  private value = 0;
  /** The first unread bit of the current byte. */
  private bit = 0;

  private readonly bytes: Uint8Array;
  private at: number;
  private readonly end: number;

  constructor(
    { bytes, at, end }: Part,
    private readonly width: number,
  ) {
    if (width > WIDTH_MAX) throw new Error('damaged levels or indices of a page');
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    this.mask = (1 << width) - 1;
  }

  /** Reads the next `count` values into `out`, from index `at` on. */
  read(out: Uint8Array | Uint32Array, at: number, count: number): void {
    for (const last = at + count; at < last;) {
      if (this.left === 0) this.nextRun();
      const values = Math.min(last - at, this.left);
      if (this.isPacked) this.unpack(out, at, values);
      else out.fill(this.value, at, at + values);
      this.left -= values;
      at += values;
    }
  }

  /** Skips `count` values if all are known to be `value`. */
  skipRunOf(value: number, count: number): boolean {
    if (this.left === 0) this.nextRun();
    if (this.isPacked || this.value !== value || this.left < count) return false;
    this.left -= count;
    return true;
  }

  private nextRun(): void {
    while (this.left === 0) {
      const head = this.varint();
      const isPacked = (head & 1) === 1;
      this.left = isPacked ? (head >>> 1) * 8 : head >>> 1;
      this.isPacked = isPacked && this.width > 0;
      this.bit = 0;
      if (!this.isPacked) this.value = this.runValue();
    }
  }

  private runValue(): number {
    let value = 0;
    for (let shift = 0; shift < this.width; shift += 8) value |= this.byte() << shift;
    return value & this.mask;
  }

  private unpack(out: Uint8Array | Uint32Array, at: number, count: number): void {
    const { bytes, width, mask } = this;
    const start = this.at * 8 + this.bit;
    const end = start + count * width;
    // Read four bytes at a time while there are four: the last group may be cut off where its values end.
    const whole = Math.max(0, Math.min(count, Math.floor((bytes.length * 8 - 32 - start) / width)));
    let place = start;
    for (const last = at + whole; at < last; at++, place += width) {
      const byte = place >>> 3;
      const word = // in range; a check of each byte would double the cost
        (bytes[byte] as number) |
        ((bytes[byte + 1] as number) << 8) |
        ((bytes[byte + 2] as number) << 16) |
        ((bytes[byte + 3] as number) << 24);
      out[at] = (word >>> (place & 7)) & mask;
    }
    for (; place < end; at++, place += width) out[at] = this.lastValue(place);
    this.at = end >>> 3;
    this.bit = end & 7;
  }

  private lastValue(place: number): number {
    const byte = place >>> 3;
    const { bytes } = this;
    const word = [0, 1, 2, 3].reduce((sum, index) => sum | ((bytes[byte + index] ?? 0) << (8 * index)), 0);
    return (word >>> (place & 7)) & this.mask;
  }

  private varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new Error('damaged levels or indices of a page');
  }

  private byte(): number {
    if (this.at >= this.end) throw new Error('a page of the file ends too early');
    return this.bytes[this.at++] ?? 0;
  }
}
