import { EXACT_POWER_MAX, POWERS_OF_TEN } from './layout';
import { FIVE_EXPONENT_MAX, FIVE_EXPONENT_MIN, POWERS_OF_FIVE } from './tables';
import { DOT, MINUS, PLUS, ZERO, at, moveTo } from './text';

/** Decodes numbers of any length, as `Number` does. */

/** A mantissa of up to this many digits is exact in an f64, and so is the power of ten below it. */
const DIGITS_MAX: usize = 15;

/** The host's `Number` of the text from `start` to before `end`. */
// @ts-ignore: decorator
@external('env', 'numberOf')
declare function numberOf(start: usize, end: usize): f64;

/** Numbers of the request that were decoded digit by digit. */
export let longNumbers: i32 = 0;

export function forgetLongNumbers(): void {
  longNumbers = 0;
}

/** Fills the table of divisors. */
export function fillPowersOfTen(): void {
  let power: f64 = 1;
  for (let exponent: i32 = 0; exponent <= EXACT_POWER_MAX; exponent++) {
    store<f64>(POWERS_OF_TEN + (<usize>exponent << 3), power);
    power *= 10;
  }
}

/** Decodes one number like JSON.parse; NaN if there is none. */
export function decodeNumber(): f64 {
  const start = at;
  let place = start;
  const negative = load<u8>(place) == MINUS;
  if (negative) place++;
  const first = place;
  let digit = <u32>load<u8>(place) - ZERO;
  if (digit > 9) return NaN;
  let mantissa: u64 = digit;
  for (;;) {
    digit = <u32>load<u8>(++place) - ZERO;
    if (digit > 9) break;
    mantissa = mantissa * 10 + digit;
  }
  let digits = place - first;
  if (digits > 1 && load<u8>(first) == ZERO) return NaN; // RFC 8259 section 6: no leading zeros
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
    if (decimals == 0) return NaN;
    if (digits > DIGITS_MAX) return decodeLong(start);
    value = <f64>(<i64>mantissa) / load<f64>(POWERS_OF_TEN + (decimals << 3));
  } else {
    if (digits > DIGITS_MAX) return decodeLong(start);
    value = <f64>(<i64>mantissa);
  }
  if ((<u32>load<u8>(place) | 0x20) == 0x65) return decodeLong(start); // an exponent
  moveTo(place);
  return negative ? -value : value;
}

/** One more than the largest mantissa of an f64. */
const MANTISSA_END: u64 = 0x20_0000_0000_0000;
/** The significant digits that fit a u64. */
const SIGNIFICANT_MAX: i32 = 19;
/** Beyond it, every number is zero or infinite; so long an exponent still fits. */
const EXPONENT_MAX: i32 = 100_000_000;

/** Any number of the grammar; NaN if none begins at `start`. */
function decodeLong(start: usize): f64 {
  longNumbers++;
  const negative = load<u8>(start) == MINUS;
  let place = negative ? start + 1 : start;
  let mantissa: u64 = 0;
  let significant: i32 = 0;
  let power: i32 = 0; // of ten, the place value of the last significant digit
  let isCut = false; // whether a digit after the significant ones is not zero
  for (;;) {
    const digit = <u32>load<u8>(place) - ZERO;
    if (digit > 9) break;
    if (significant < SIGNIFICANT_MAX) {
      mantissa = mantissa * 10 + digit;
      significant += i32(mantissa != 0);
    } else {
      power++;
      isCut = isCut || digit != 0;
    }
    place++;
  }
  if (load<u8>(place) == DOT) {
    const point = place++;
    for (;;) {
      const digit = <u32>load<u8>(place) - ZERO;
      if (digit > 9) break;
      if (significant < SIGNIFICANT_MAX) {
        mantissa = mantissa * 10 + digit;
        significant += i32(mantissa != 0);
        power--;
      } else {
        isCut = isCut || digit != 0;
        }
      place++;
    }
    if (place == point + 1) return NaN;
  }
  if ((<u32>load<u8>(place) | 0x20) == 0x65) {
    const sign = <u32>load<u8>(++place);
    if (sign == PLUS || sign == MINUS) place++;
    const digits = place;
    let exponent: i32 = 0;
    for (;;) {
      const digit = <u32>load<u8>(place) - ZERO;
      if (digit > 9) break;
      place++;
      if (exponent < EXPONENT_MAX) exponent = exponent * 10 + digit;
    }
    if (place == digits) return NaN;
    power += sign == MINUS ? -exponent : exponent;
  }
  moveTo(place);
  const value = nearest(mantissa, power);
  // With digits cut off, the number is between this mantissa and the next one: where they differ, the host decides.
  if (isCut && value != nearest(mantissa + 1, power)) return numberOf(start, place);
  return negative ? -value : value;
}

/**
 * `mantissa` · 10^`exponent` rounded to the nearest f64, ties to even. After Daniel Lemire, "Number Parsing at a
 * Gigabyte per Second" (2021), and his fast_float; Noble Mushtak and he proved that 128 bits always suffice, "Fast
 * Number Parsing Without Fallback" (2022).
 */
function nearest(mantissa: u64, exponent: i32): f64 {
  if (mantissa < MANTISSA_END && exponent >= -EXACT_POWER_MAX && exponent <= EXACT_POWER_MAX) {
    // Both operands are exact, so this one operation rounds once.
    if (exponent < 0) return <f64>(<i64>mantissa) / load<f64>(POWERS_OF_TEN + (<usize>-exponent << 3));
    return <f64>(<i64>mantissa) * load<f64>(POWERS_OF_TEN + (<usize>exponent << 3));
  }
  if (mantissa == 0 || exponent < FIVE_EXPONENT_MIN) return 0;
  if (exponent > FIVE_EXPONENT_MAX) return Infinity;
  const power = changetype<usize>(POWERS_OF_FIVE) + (<usize>(exponent - FIVE_EXPONENT_MIN) << 4);
  const zeros = clz(mantissa);
  const normal = mantissa << zeros;
  let high = highProduct(normal, load<u64>(power));
  let low = normal * load<u64>(power);
  // 55 bits are needed; the rest of the power can carry into them only if all the other bits are set.
  if ((high & 0x1ff) == 0x1ff) {
    const carried = low + highProduct(normal, load<u64>(power, 8));
    high += u64(carried < low);
    low = carried;
  }
  return rounded(high, low, exponent, <i32>zeros);
}

/** The f64 whose leading bits are `high`, followed by `low`. */
function rounded(high: u64, low: u64, exponent: i32, zeros: i32): f64 {
  const upper = <i32>(high >>> 63);
  const shift = <u64>(upper + 9); // 64 − 52 explicit bits − 3
  let bits = high >>> shift;
  // The biased binary exponent (bias 1023). 217706 / 65536 approximates log2(10) ≈ 3.3219; 63 is the highest bit of
  // the mantissa.
  let biased = ((217_706 * exponent) >> 16) + 63 + upper - zeros + 1023;
  if (biased <= 0) {
    if (biased <= -63) return 0;
    bits >>>= <u64>(1 - biased);
    bits += bits & 1;
    bits >>>= 1; // may become the smallest normal number, which these bits then encode
    return reinterpret<f64>(bits);
  }
  // Exactly at the midpoint: round to even. Otherwise the last bit rounds up.
  if (low <= 1 && exponent >= -4 && exponent <= 23 && (bits & 3) == 1 && bits << shift == high) bits &= ~(<u64>1);
  bits += bits & 1;
  bits >>>= 1;
  if (bits == MANTISSA_END) {
    bits >>>= 1;
    biased++;
  }
  if (biased >= 0x7ff) return Infinity;
  return reinterpret<f64>((bits & 0x000f_ffff_ffff_ffff) | (<u64>biased << 52));
}

/** The higher half of the 128-bit product, from products of halves. */
function highProduct(one: u64, other: u64): u64 {
  const oneLow = one & 0xffff_ffff;
  const oneHigh = one >>> 32;
  const otherLow = other & 0xffff_ffff;
  const otherHigh = other >>> 32;
  const middle = oneHigh * otherLow + ((oneLow * otherLow) >>> 32);
  const otherMiddle = oneLow * otherHigh + (middle & 0xffff_ffff);
  return oneHigh * otherHigh + (middle >>> 32) + (otherMiddle >>> 32);
}
