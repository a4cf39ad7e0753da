/**
 * Lifts every array of plain numbers out of a JSON body: the samples go to a float buffer, and what is left is
 * a skeleton in which `[72, 71.5, …]` has become `[k]`, the index of the lifted array. Everything else —
 * strings, escapes, keys, duplicates, nesting — stays JSON.parse's business.
 *
 *   {"HR_night":[61,60.5],"age":40}   →   {"HR_night":[0],"age":40}   samples 61, 60.5   bounds 0, 2
 *
 * A caller cannot write a reference: every array that starts with a number is lifted, or the whole body goes
 * to the exact path. A forged `[7]` is itself lifted, as a series of one sample.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** A mantissa of so many digits is exact in a double, and so is the power of ten below it. */
const DIGITS_MAX = 15;
const POWERS_OF_TEN = Float64Array.from({ length: DIGITS_MAX + 1 }, (_, exponent) => Number(`1e${exponent}`));

/** Most arrays in a body that the fast path takes; a request has at most 24 series. */
const ARRAYS_MAX = 64;
/** A reference may be longer than its array, `[5]` → `[12]`, by one byte. */
const REFERENCE_GROWTH_BYTES = 1;

/** Reused buffers of the bodies read on one thread. */
export class Lifter {
  /** The samples of the body lifted last, array after array. */
  readonly samples: Float32Array;
  /** Array k is `samples[bounds[2k] … bounds[2k + 1])`. */
  readonly bounds = new Int32Array(2 * ARRAYS_MAX);
  private skeleton = Buffer.alloc(16_384);
  private arrays = 0;
  private sampleCount = 0;

  /** @param samplesMax most samples of one body; a body with more takes the exact path */
  constructor(samplesMax: number) {
    this.samples = new Float32Array(samplesMax);
  }

  /** The skeleton of `bytes`, or undefined where the body must take the exact path. */
  lift(bytes: Uint8Array): string | undefined {
    this.arrays = 0;
    this.sampleCount = 0;
    const needed = bytes.length + ARRAYS_MAX * REFERENCE_GROWTH_BYTES;
    if (this.skeleton.length < needed) this.skeleton = Buffer.alloc(2 * needed);
    const length = this.copySkeleton(bytes);
    return length < 0 ? undefined : this.skeleton.toString('latin1', 0, length);
  }

  /** Copies everything but the number arrays; returns the skeleton's length, or −1 for the exact path. */
  private copySkeleton(bytes: Uint8Array): number {
    const { skeleton } = this;
    const end = bytes.length;
    let inString = false;
    let out = 0;
    for (let at = 0; at < end; at++) {
      const byte = bytes[at]!; // at < end
      if (byte >= 0x80) return -1; // UTF-8 is checked on the exact path
      skeleton[out++] = byte;
      if (byte === QUOTE) inString = !inString;
      else if (inString) {
        if (byte === BACKSLASH) {
          if (++at === end) return -1;
          if (bytes[at]! >= 0x80) return -1;
          skeleton[out++] = bytes[at]!;
        }
      } else if (byte === OPEN_ARRAY) {
        const first = skipSpace(bytes, at + 1);
        if (!startsNumber(bytes[first])) continue;
        const close = this.liftArray(bytes, first);
        if (close < 0) return -1;
        out = this.writeReference(out);
        at = close;
      }
    }
    return out;
  }

  /** Writes `k]` behind the copied `[`. */
  private writeReference(at: number): number {
    const { skeleton } = this;
    const index = this.arrays++;
    let out = at;
    if (index >= 10) skeleton[out++] = ZERO + Math.floor(index / 10);
    skeleton[out++] = ZERO + (index % 10);
    skeleton[out++] = CLOSE_ARRAY;
    return out;
  }

  /** Decodes the array whose first number begins at `start`; returns where its bracket closes, or −1. */
  private liftArray(bytes: Uint8Array, start: number): number {
    const { samples } = this;
    if (this.arrays === ARRAYS_MAX) return -1;
    let count = this.sampleCount;
    this.bounds[2 * this.arrays] = count;
    let at = start;
    for (;;) {
      let byte = bytes[at];
      const negative = byte === MINUS;
      if (negative) byte = bytes[++at];
      if (byte === undefined || byte < ZERO || byte > 0x39) return -1;
      const leadingZero = byte === ZERO;
      const from = at;
      let mantissa = byte - ZERO;
      byte = bytes[++at];
      while (byte !== undefined && byte >= ZERO && byte <= 0x39) {
        mantissa = mantissa * 10 + (byte - ZERO);
        byte = bytes[++at];
      }
      let digits = at - from;
      if (leadingZero && digits > 1) return -1; // RFC 8259 section 6: no leading zeros
      let value = mantissa;
      if (byte === DOT) {
        const point = at;
        byte = bytes[++at];
        while (byte !== undefined && byte >= ZERO && byte <= 0x39) {
          mantissa = mantissa * 10 + (byte - ZERO);
          byte = bytes[++at];
        }
        const decimals = at - point - 1;
        if (decimals === 0) return -1;
        digits += decimals;
        if (digits > DIGITS_MAX) return -1;
        value = mantissa / POWERS_OF_TEN[decimals]!; // decimals < DIGITS_MAX
      } else if (digits > DIGITS_MAX) return -1;
      if (count === samples.length) return -1;
      samples[count++] = negative ? -value : value;

      if (byte !== COMMA && byte !== CLOSE_ARRAY) {
        at = skipSpace(bytes, at);
        byte = bytes[at];
      }
      if (byte === CLOSE_ARRAY) break;
      if (byte !== COMMA) return -1; // exponents, words, nested arrays, the end of the bytes
      byte = bytes[++at];
      if (byte !== undefined && byte <= 0x20) at = skipSpace(bytes, at);
    }
    this.sampleCount = count;
    this.bounds[2 * this.arrays + 1] = count;
    return at;
  }
}

function startsNumber(byte: number | undefined): boolean {
  return byte !== undefined && (byte === MINUS || (byte >= ZERO && byte <= 0x39));
}

/** The first offset from `at` on that holds no JSON white space. */
function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at;
  for (;;) {
    const byte = bytes[next];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return next;
    next++;
  }
}
