/**
 * Finds where bytes stop being JSON (RFC 8259, UTF-8). The engine's own message is of no use: it quotes the
 * input, and counts UTF-16 units. Runs only for bodies that JSON.parse or the UTF-8 check has refused.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

const LITERALS: ReadonlyMap<number, readonly number[]> = new Map(
  ['true', 'false', 'null'].map((word) => {
    const bytes = [...Buffer.from(word)];
    return [bytes[0] ?? 0, bytes];
  }),
);
const ESCAPABLE = new Set(Buffer.from('"\\/bfnrtu'));

/** What may stand next, on the level the scan is in. */
type Expectation = 'value' | 'valueOrEnd' | 'keyOrEnd' | 'key' | 'colon' | 'commaOrEnd' | 'end';

/**
 * The offset of the first byte that cannot continue a JSON text: `bytes.length` where the text is cut short,
 * the first byte of an ill-formed UTF-8 sequence, or −1 where everything is well.
 */
export function firstBadByte(bytes: Uint8Array): number {
  const scan = new Scan(bytes);
  return scan.document();
}

class Scan {
  private at = 0;
  /** The open brackets, innermost last: nesting costs a byte each, never a stack frame. */
  private readonly open: number[] = [];

  constructor(private readonly bytes: Uint8Array) {}

  document(): number {
    let expected: Expectation = 'value';
    for (;;) {
      this.skipSpace();
      if (this.at === this.bytes.length) return expected === 'end' ? -1 : this.at;
      const next = this.step(expected, this.peek());
      if (next === undefined) return this.at;
      expected = next;
    }
  }

  /** Consumes one token; undefined where `this.at` is the first bad byte. */
  private step(expected: Expectation, byte: number): Expectation | undefined {
    switch (expected) {
      case 'end':
        return undefined;
      case 'colon':
        if (byte !== COLON) return undefined;
        this.at++;
        return 'value';
      case 'commaOrEnd':
        return this.commaOrEnd(byte);
      case 'key':
      case 'keyOrEnd':
        if (byte === CLOSE_OBJECT && expected === 'keyOrEnd') return this.close();
        return byte === QUOTE && this.string() ? 'colon' : undefined;
      case 'valueOrEnd':
        if (byte === CLOSE_ARRAY) return this.close();
        return this.value(byte);
      case 'value':
        return this.value(byte);
    }
  }

  private value(byte: number): Expectation | undefined {
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      this.open.push(byte);
      this.at++;
      return byte === OPEN_OBJECT ? 'keyOrEnd' : 'valueOrEnd';
    }
    const literal = LITERALS.get(byte);
    const wellFormed =
      byte === QUOTE ? this.string() : literal !== undefined ? this.word(literal) : this.number();
    return wellFormed ? this.afterValue() : undefined;
  }

  private commaOrEnd(byte: number): Expectation | undefined {
    const inObject = this.open[this.open.length - 1] === OPEN_OBJECT;
    if (byte === COMMA) {
      this.at++;
      return inObject ? 'key' : 'value';
    }
    return byte === (inObject ? CLOSE_OBJECT : CLOSE_ARRAY) ? this.close() : undefined;
  }

  private close(): Expectation {
    this.open.pop();
    this.at++;
    return this.afterValue();
  }

  private afterValue(): Expectation {
    return this.open.length === 0 ? 'end' : 'commaOrEnd';
  }

  private word(word: readonly number[]): boolean {
    for (const byte of word) {
      if (this.peek() !== byte) return false;
      this.at++;
    }
    return true;
  }

  /** RFC 8259 section 6: no leading zeros, no bare point, no plus sign in front. */
  private number(): boolean {
    if (this.peek() === MINUS) this.at++;
    if (this.peek() === ZERO) this.at++;
    else if (!this.digits()) return false;
    if (this.peek() === DOT) {
      this.at++;
      if (!this.digits()) return false;
    }
    if ((this.peek() | 0x20) === 0x65) {
      this.at++;
      if (this.peek() === PLUS || this.peek() === MINUS) this.at++;
      if (!this.digits()) return false;
    }
    return true;
  }

  private digits(): boolean {
    const from = this.at;
    while (isDigit(this.peek())) this.at++;
    return this.at > from;
  }

  private string(): boolean {
    this.at++;
    for (;;) {
      const byte = this.peek();
      if (byte === QUOTE) {
        this.at++;
        return true;
      }
      if (byte < 0x20) return false; // also the end of the text, which peek gives as −1
      if (byte === BACKSLASH) {
        if (!this.escape()) return false;
      } else if (byte < 0x80) this.at++;
      else {
        const length = utf8Length(this.bytes, this.at);
        if (length === 0) return false;
        this.at = Math.min(this.at + length, this.bytes.length);
      }
    }
  }

  private escape(): boolean {
    this.at++;
    const byte = this.peek();
    if (!ESCAPABLE.has(byte)) return false;
    this.at++;
    if (byte !== 0x75) return true;
    for (let digit = 0; digit < 4; digit++) {
      if (!isHexDigit(this.peek())) return false;
      this.at++;
    }
    return true;
  }

  private skipSpace(): void {
    for (;;) {
      const byte = this.peek();
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.at++;
    }
  }

  private peek(): number {
    return this.bytes[this.at] ?? -1;
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHexDigit(byte: number): boolean {
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66 && byte > 0x40);
}

/**
 * Bytes of the UTF-8 sequence at `at` (Unicode table 3-7), or 0 where it is ill-formed. A sequence that the end
 * of the bytes cuts short is well-formed so far.
 */
function utf8Length(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const second = bytes[at + 1];
  const length =
    first >= 0xc2 && first <= 0xdf ? 2 : (first & 0xf0) === 0xe0 ? 3 : (first & 0xf8) === 0xf0 ? 4 : 0;
  if (length === 0 || first > 0xf4) return 0;
  if (second === undefined) return length;
  if (first === 0xe0 && second < 0xa0) return 0; // overlong
  if (first === 0xed && second > 0x9f) return 0; // surrogates
  if (first === 0xf0 && second < 0x90) return 0; // overlong
  if (first === 0xf4 && second > 0x8f) return 0; // beyond U+10FFFF
  for (let index = 1; index < length; index++) {
    if (((bytes[at + index] ?? 0x80) & 0xc0) !== 0x80) return 0;
  }
  return length;
}
