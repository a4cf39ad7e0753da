import { LIMBS_LEFT, LIMBS_MAX, LIMBS_RIGHT } from './layout';
import { ZERO } from './text';

/**
 * Whether a number is above the midpoint between two neighbouring f64, in big integers: for the few numbers of more
 * than 19 digits that are too close to it for the first 19 to decide.
 *
 * A big integer is its count of limbs, u32, followed by the limbs, u32 each, lowest first.
 */

/** No midpoint has more digits: further digits of a number only matter if one is not zero. */
const DIGITS_MAX: i32 = 800;

const NINE_DIGITS: u32 = 1_000_000_000;
const FIVE_TO_13: u32 = 1_220_703_125;

/**
 * Whether a number is to be rounded up from `lower`; ties go to the even neighbour. The number is `mantissa` ·
 * 10^`power` plus the digits from `rest` to `end` after it; a point among them is skipped.
 */
export function isAboveMiddle(mantissa: u64, power: i32, rest: usize, end: usize, lower: f64): bool {
  const bits = reinterpret<u64>(lower);
  const field = <i32>(bits >>> 52);
  const significand = (bits & 0x000f_ffff_ffff_ffff) | (field == 0 ? 0 : 0x0010_0000_0000_0000);
  setWhole(LIMBS_RIGHT, 2 * significand + 1);
  setWhole(LIMBS_LEFT, mantissa);
  const tens = power - appendDigits(rest, end);
  multiplyByFives(tens >= 0 ? LIMBS_LEFT : LIMBS_RIGHT, abs(tens));
  const twos = tens - (max(field, 1) - 1076); // the power of two in which the midpoint is counted
  shiftLeft(twos >= 0 ? LIMBS_LEFT : LIMBS_RIGHT, abs(twos));
  const order = compare();
  return order > 0 || (order == 0 && (isLarger || (significand & 1) != 0));
}

/** Whether a non-zero digit was left out. */
let isLarger: bool = false;

/** Appends the digits from `start` to `end` to the left number; returns their count. */
function appendDigits(start: usize, end: usize): i32 {
  isLarger = false;
  let count: i32 = 0;
  let group: u32 = 0;
  let scale: u32 = 1;
  for (let place = start; place < end; place++) {
    const digit = <u32>load<u8>(place) - ZERO;
    if (digit > 9) continue; // the point
    if (count == DIGITS_MAX) {
      if (digit == 0) continue;
      isLarger = true;
      break;
    }
    count++;
    group = group * 10 + digit;
    scale *= 10;
    if (scale == NINE_DIGITS) {
      multiplyAndAdd(LIMBS_LEFT, scale, group);
      group = 0;
      scale = 1;
    }
  }
  multiplyAndAdd(LIMBS_LEFT, scale, group);
  return count;
}

function setWhole(number: usize, value: u64): void {
  store<u32>(number, 2);
  store<u64>(number + 4, value);
}

function multiplyAndAdd(number: usize, factor: u32, addend: u32): void {
  const count = load<u32>(number);
  let carry = <u64>addend;
  for (let limb: u32 = 1; limb <= count; limb++) {
    const place = number + (<usize>limb << 2);
    const product = <u64>load<u32>(place) * <u64>factor + carry;
    store<u32>(place, <u32>product);
    carry = product >>> 32;
  }
  if (carry != 0) append(number, <u32>carry);
}

function append(number: usize, limb: u32): void {
  const count = load<u32>(number) + 1;
  assert(count <= <u32>LIMBS_MAX);
  store<u32>(number, count);
  store<u32>(number + (<usize>count << 2), limb);
}

function multiplyByFives(number: usize, fives: i32): void {
  let left = fives;
  for (; left >= 13; left -= 13) multiplyAndAdd(number, FIVE_TO_13, 0);
  let factor: u32 = 1;
  for (; left > 0; left--) factor *= 5;
  multiplyAndAdd(number, factor, 0);
}

function shiftLeft(number: usize, twos: i32): void {
  multiplyAndAdd(number, 1 << (twos & 31), 0);
  const more = <u32>(twos >>> 5);
  const count = load<u32>(number) + more;
  assert(count <= <u32>LIMBS_MAX);
  for (let limb = count; limb > 0; limb--) {
    store<u32>(number + (<usize>limb << 2), limb > more ? load<u32>(number + (<usize>(limb - more) << 2)) : 0);
  }
  store<u32>(number, count);
}

/** Above, at or below 0 as the left number is greater than, equal to or less than the right one. */
function compare(): i32 {
  for (let limb = max(load<u32>(LIMBS_LEFT), load<u32>(LIMBS_RIGHT)); limb > 0; limb--) {
    const left = limbOf(LIMBS_LEFT, limb);
    const right = limbOf(LIMBS_RIGHT, limb);
    if (left != right) return left > right ? 1 : -1;
  }
  return 0;
}

function limbOf(number: usize, limb: u32): u32 {
  return limb <= load<u32>(number) ? load<u32>(number + (<usize>limb << 2)) : 0;
}
