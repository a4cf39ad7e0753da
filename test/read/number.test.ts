import t from 'tap';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { createReader } from '#acuity/read/read.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { below, pick, seededRandom, type Random } from '#acuity/base/random.js';

/** Any number of JSON is the one that JSON.parse gives, to the last bit; any sample, that rounded to a float. */

const CASES = Number(process.env['FUZZ_CASES'] ?? 8_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
const words = new DataView(new ArrayBuffer(8));

/** Texts that are read as other numbers than JSON.parse reads. */
function wrongNumbers(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => {
    parser.open(Buffer.from(text));
    if (parser.check() !== -1) return true;
    parser.exports.outlineBody();
    return !Object.is(parser.exports.numberAt(parser.outline[0] ?? 0), JSON.parse(text));
  });
}

/** Texts that the samples of a series are not. */
function wrongSamples(texts: readonly string[]): readonly string[] {
  parser.read(Buffer.from(`{"current_session":{"HR_night":[${texts.join()}]}}`));
  return texts.filter(
    (text, index) => !Object.is(parser.samples[index], Math.fround(JSON.parse(text) as number)),
  );
}

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

const digits = (random: Random, most: number): string =>
  Array.from(
    { length: 1 + below(random, most) },
    (_, at) => (at === 0 ? 1 : 0) + below(random, at === 0 ? 9 : 10),
  ).join('');
const odd = (random: Random): bigint => 2n ** 53n + BigInt(2 * below(random, 2 ** 50) + 1);

const NUMBERS: Readonly<Record<string, (random: Random) => string>> = {
  'shortest texts': (random) => String(anyDouble(random)),
  'seventeen digits and more': (random) => anyDouble(random).toPrecision(16 + below(random, 20)),
  averages: (random) => String((below(random, 20_000) + 1) / (1 + below(random, 300))),
  'digits and exponents': (random) =>
    `${pick(random, ['', '', '-'])}${digits(random, 25)}${pick(random, ['', `.${digits(random, 25)}`])}e${below(random, 700) - 350}`,
  'small exponents': (random) =>
    `${digits(random, 19)}${pick(random, ['e', 'E', 'e+', 'E-', 'e-0'])}${below(random, 30)}`,
  'zeros before and after': (random) =>
    `0.${'0'.repeat(below(random, 330))}${digits(random, 22)}${'0'.repeat(below(random, 30))}`,
  'midway between two': (random) => exactText(odd(random), below(random, 120) - 90),
  'a hair beside the middle': (random) => {
    const text = exactText(odd(random), -1 - below(random, 90));
    return random() < 0.5 ? `${text}${'0'.repeat(below(random, 20))}1` : `${text.slice(0, -1)}4999`;
  },
  'less than normal': (random) => `${digits(random, 22)}e-${310 + below(random, 35)}`,
  'at the end of the range': (random) => `1.797693134862315${digits(random, 8)}e308`,
};

/** Some last places beside the middle of two floats below 1000. */
function nearMiddle(random: Random, units: number): number {
  const low = Math.fround(random() * 10 ** below(random, 4));
  words.setFloat32(0, low);
  words.setUint32(0, words.getUint32(0) + 1);
  words.setFloat64(0, (low + words.getFloat32(0)) / 2);
  words.setBigInt64(0, words.getBigInt64(0) + BigInt(below(random, 2 * units + 1) - units));
  return words.getFloat64(0);
}

/** Numbers that a float can't tell apart: a double midway between two floats, its neighbours, and what rounds to them. */
const SAMPLES: Readonly<Record<string, (random: Random) => string>> = {
  'a middle, with all decimals that fit': (random) => nearMiddle(random, 0).toFixed(16),
  'a middle, cut or rounded': (random) => nearMiddle(random, 0).toFixed(9 + below(random, 8)),
  'some last places beside a middle': (random) => nearMiddle(random, 20).toFixed(16),
  'the shortest text of a double near a middle': (random) => String(nearMiddle(random, 20)),
  means: (random) => String((1 + below(random, 60_000)) / (1 + below(random, 400))),
  'any digits': (random) => (random() * 10 ** below(random, 4)).toFixed(4 + below(random, 13)),
};

for (const [kinds, wrong] of [
  [NUMBERS, wrongNumbers],
  [SAMPLES, wrongSamples],
] as const)
  for (const [name, text] of Object.entries(kinds))
    t.test(name, async (t) => {
      const random = seededRandom(SEED);
      for (let count = 0; count < CASES; count += 1_000)
        t.strictSame(wrong(Array.from({ length: 1_000 }, () => text(random))), []);
    });

const FIXED = [
  ...'0 -0 -0.0 0e5 -0E-999 0.000e999999999999 1e999 -1e999 1e-999 1e99999999999999999999'.split(' '),
  ...'1e-99999999999999999999 26100.00000000000001 9007199254740993'.split(' '),
  ...'9007199254740992.9999999999999999999999 9007199254740993.00000000000000000000000000'.split(' '),
  ...'9007199254740993.00000000000000000000000001 18446744073709551615 18446744073709551616'.split(' '),
  ...'9999999999999999999 99999999999999999999 2.2250738585072011e-308 2.2250738585072014e-308'.split(' '),
  ...'2.4703282292062327e-324 2.4703282292062328e-324 4.9406564584124654e-324 8.5e-5'.split(' '),
  ...'1.7976931348623157e308 1.7976931348623158e308 1.7976931348623159e308'.split(' '),
  `1${'0'.repeat(400)}e-400`,
  `0.${'0'.repeat(400)}1e401`,
  `${'1'.repeat(2000)}e-1999`,
  `1.${'0'.repeat(5000)}1`,
];
t.test('numbers that have caught others', async (t) => t.strictSame(wrongNumbers(FIXED), []));

t.test(
  'a number that the parser leaves to its host is slow once for each two of its bytes, refused or not',
  async (t) => {
    const read = createReader(DEFAULT_SERIES_LIMITS);
    const tie = '9007199254740993.0001';
    for (const body of [
      `{"current_session":{"HR_night":[${tie}]}}`,
      `{"current_session":{"age":"a","HR_night":[${tie}]}}`,
      `{"current_session":{"HR_night":[${tie}]}`,
    ])
      t.ok((read(Buffer.from(body)).slowNumbers ?? 0) >= Math.floor(tie.length / 2), body);
  },
);
