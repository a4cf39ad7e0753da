/**
 * The leading 128 bits of 5^`from` … 5^`to`, two words each, the higher one first: the factors that turn a
 * decimal exponent into a binary one. Positive powers are truncated, and the inverses for negative exponents
 * rounded up, as Lemire's algorithm (`assembly/number.ts`) requires.
 */
export function powersOfFive(from: number, to: number): BigUint64Array {
  const words = new BigUint64Array(2 * (to - from + 1));
  for (let exponent = from; exponent <= to; exponent++) {
    const bits = exponent < 0 ? inverseBits(-exponent) : leadingBits(5n ** BigInt(exponent));
    words[2 * (exponent - from)] = bits >> 64n;
    words[2 * (exponent - from) + 1] = bits & 0xffff_ffff_ffff_ffffn;
  }
  return words;
}

const WORDS_BITS = 128;

function leadingBits(power: bigint): bigint {
  const surplus = lengthOf(power) - WORDS_BITS;
  return surplus > 0 ? power >> BigInt(surplus) : power << BigInt(-surplus);
}

function inverseBits(exponent: number): bigint {
  const power = 5n ** BigInt(exponent);
  const length = lengthOf(power);
  // Up to 5^27 the quotient has exactly 128 bits; beyond, more bits are computed than kept.
  if (exponent <= 27) return (1n << BigInt(length + WORDS_BITS - 1)) / power + 1n;
  return leadingBits((1n << BigInt(2 * length + WORDS_BITS)) / power + 1n);
}

/** In bits. */
function lengthOf(value: bigint): number {
  const hex = value.toString(16);
  return 4 * hex.length - Math.clz32(parseInt(hex.slice(0, 1), 16)) + 28;
}
