import { POWERS_OF_TEN } from './layout';
import { DOT, MINUS, ZERO, at, moveTo } from './text';

/** A mantissa of so many digits is exact in an f64, and so is the power of ten below it. */
const DIGITS_MAX: usize = 15;

/** Fills the table that the decoder divides by. */
export function fillPowersOfTen(): void {
  let power: f64 = 1;
  for (let exponent: usize = 0; exponent < 16; exponent++) {
    store<f64>(POWERS_OF_TEN + (exponent << 3), power);
    power *= 10;
  }
}

/** Decodes one number; NaN for anything else, for exponents, and for more than 15 digits. */
export function decodeNumber(): f64 {
  let place = at;
  const negative = load<u8>(place) == MINUS;
  if (negative) place++;
  const start = place;
  let digit = <u32>load<u8>(place) - ZERO;
  if (digit > 9) return NaN;
  let mantissa: u64 = digit;
  for (;;) {
    digit = <u32>load<u8>(++place) - ZERO;
    if (digit > 9) break;
    mantissa = mantissa * 10 + digit;
  }
  let digits = place - start;
  if (digits > 1 && load<u8>(start) == ZERO) return NaN; // RFC 8259 section 6: no leading zeros
  let value: f64;
  if (load<u8>(place) == DOT) {
    const point = place;
    for (;;) {
      digit = <u32>load<u8>(++place) - ZERO;
      if (digit > 9) break;
      mantissa = mantissa * 10 + digit;
    }
    const decimals = place - point - 1;
    digits += decimals;
    if (decimals == 0 || digits > DIGITS_MAX) return NaN;
    value = <f64>(<i64>mantissa) / load<f64>(POWERS_OF_TEN + (decimals << 3));
  } else {
    if (digits > DIGITS_MAX) return NaN;
    value = <f64>(<i64>mantissa);
  }
  if ((<u32>load<u8>(place) | 0x20) == 0x65) return NaN; // an exponent
  moveTo(place);
  return negative ? -value : value;
}
