import t from 'tap';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { LAYOUT } from '#acuity/records/layout.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { powersOfFive } from '#acuity/reading/powersOfFive.js';
import { below, pick, seededRandom, type Random } from '#acuity/base/random.js';

/** Any number of JSON is the one that JSON.parse gives, to the last bit. */

const CASES = Number(process.env['FUZZ_CASES'] ?? 100_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

const parser = new WasmParser(DEFAULT_SERIES_LIMITS);

function decoded(text: string): number {
  parser.open(Buffer.from(text));
  if (parser.check() !== -1) throw new Error(`${text} is no JSON`);
  parser.exports.outlineBody();
  return parser.exports.numberAt(parser.outline[0] ?? 0);
}

/** Where the two differ. */
function wrong(text: string): string | undefined {
  const actual = decoded(text);
  const expected = JSON.parse(text) as number;
  return Object.is(actual, expected) ? undefined : `${text} is ${actual}, not ${expected}`;
}

const words = new DataView(new ArrayBuffer(8));

/** Any bits of a double that is a number. */
function anyDouble(random: Random): number {
  for (;;) {
    words.setUint32(0, Math.floor(random() * 2 ** 32));
    words.setUint32(4, Math.floor(random() * 2 ** 32));
    const value = words.getFloat64(0);
    if (Number.isFinite(value)) return value;
  }
}

/** The exact decimal text of a double times two to a power, and so of what lies midway between two of them. */
function exactText(significand: bigint, power: number): string {
  if (power >= 0) return String(significand << BigInt(power));
  const digits = String(significand * 5n ** BigInt(-power)).padStart(-power + 1, '0');
  return `${digits.slice(0, power)}.${digits.slice(power)}`;
}

function digits(random: Random, count: number): string {
  return Array.from({ length: count }, (_, index) =>
    index === 0 ? 1 + below(random, 9) : below(random, 10),
  ).join('');
}

const kinds: Readonly<Record<string, (random: Random) => string>> = {
  'shortest texts': (random) => String(anyDouble(random)),
  'seventeen digits and more': (random) => anyDouble(random).toPrecision(16 + below(random, 20)),
  averages: (random) => String((below(random, 20_000) + 1) / (1 + below(random, 300))),
  'digits and exponents': (random) =>
    `${random() < 0.3 ? '-' : ''}${digits(random, 1 + below(random, 25))}${random() < 0.5 ? `.${digits(random, 1 + below(random, 25))}` : ''}e${below(random, 700) - 350}`,
  'small exponents': (random) =>
    `${digits(random, 1 + below(random, 19))}${pick(random, ['e', 'E', 'e+', 'E-', 'e-0'])}${below(random, 30)}`,
  'zeros before and after': (random) =>
    `0.${'0'.repeat(below(random, 330))}${digits(random, 1 + below(random, 22))}${'0'.repeat(below(random, 30))}`,
  'midway between two': (random) =>
    exactText(2n ** 53n + BigInt(2 * below(random, 2 ** 50) + 1), below(random, 120) - 90),
  'a hair beside the middle': (random) => {
    const text = exactText(2n ** 53n + BigInt(2 * below(random, 2 ** 50) + 1), -1 - below(random, 90));
    return random() < 0.5 ? `${text}${'0'.repeat(below(random, 20))}1` : `${text.slice(0, -1)}4999`;
  },
  'less than normal': (random) => `${digits(random, 1 + below(random, 22))}e-${310 + below(random, 35)}`,
  'at the end of the range': (random) => `1.797693134862315${digits(random, 1 + below(random, 8))}e308`,
};

for (const [name, text] of Object.entries(kinds)) {
  t.test(name, async (t) => {
    const random = seededRandom(SEED);
    for (let count = 0; count < CASES / 10; count++) {
      const different = wrong(text(random));
      if (different !== undefined) t.fail(different);
    }
    t.pass();
  });
}

const fixed = [
  ...'0 -0 -0.0 0e5 -0E-999 0.000e999999999999 1e999 -1e999 1e-999 1e99999999999999999999'.split(' '),
  ...'1e-99999999999999999999 26100.00000000000001 9007199254740993'.split(' '),
  ...'9007199254740992.9999999999999999999999 9007199254740993.00000000000000000000000000'.split(' '),
  ...'9007199254740993.00000000000000000000000001 18446744073709551615 18446744073709551616'.split(' '),
  ...'9999999999999999999 99999999999999999999 2.2250738585072011e-308 2.2250738585072014e-308'.split(' '),
  ...'2.4703282292062327e-324 2.4703282292062328e-324 4.9406564584124654e-324 1.7976931348623157e308'.split(
    ' ',
  ),
  ...'1.7976931348623158e308 1.7976931348623159e308 8.5e-5'.split(' '),
  `1${'0'.repeat(400)}e-400`,
  `0.${'0'.repeat(400)}1e401`,
  `${'1'.repeat(2000)}e-1999`,
  `1.${'0'.repeat(5000)}1`,
];
t.test('numbers that have caught others', async (t) => {
  for (const text of fixed) t.equal(wrong(text), undefined);
});

t.test('the powers of five are 128 leading bits of what they stand for', async (t) => {
  const from = LAYOUT.FIVE_EXPONENT_MIN;
  const words = powersOfFive(from, LAYOUT.FIVE_EXPONENT_MAX);
  for (let exponent = from; exponent <= LAYOUT.FIVE_EXPONENT_MAX; exponent++) {
    const place = 2 * (exponent - from);
    const high = Number(words[place]);
    t.ok(high >= 2 ** 63);
    const power = 5 ** exponent;
    // Where a double can say it, they agree in its bits.
    if (power > 1e-290 && power < Infinity) {
      const ratio = high / power;
      t.ok(Math.abs(Math.log2(ratio) - Math.round(Math.log2(ratio))) < 1e-9, `5^${exponent}`);
    }
  }
  t.strictSame([...powersOfFive(0, 0)], [2n ** 63n, 0n]);
  t.strictSame([...powersOfFive(-1, -1)], [0xcccc_cccc_cccc_ccccn, 0xcccc_cccc_cccc_cccdn]);
});
