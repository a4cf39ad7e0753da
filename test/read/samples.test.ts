import t from 'tap';
import { readExactly } from '#acuity/read/read.js';
import type { SeriesLimits } from '#rules/fields.js';
import { isJson } from '../fixtures/bodyVerdict.js';
import { LAYOUT } from '#acuity/night/layout.js';
import { summaryAt } from '#acuity/night/places.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { below, pick, seededRandom, type Random } from '#acuity/base/random.js';
import type { Finding } from '#acuity/contract/problems.js';

/** How the parser decodes the array of a series: what it takes, to the last bit, and what it must leave. */

const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

const LIMITS: SeriesLimits = { daySamplesMax: 1000, nightSamplesMax: 1000 };
const parser = new WasmParser(LIMITS);
const exactKernel = new WasmParser(LIMITS);

/** The samples of `array`, the text of one; undefined where the parser does not take it. */
function decode(array: string, after = ''): number[] | undefined {
  parser.samples.fill(-7);
  const body = Buffer.from(`{"current_session":{"HR_night":${array}}${after}}`);
  const request = parser.read(body);
  const expected = JSON.parse(array) as number[];
  const samples = Array.from(parser.samples.subarray(0, expected.length));
  // Decoded, but not in the unit of the series: only that sends it to the exact path.
  if (request === undefined) return isInOtherUnit(body) ? samples : undefined;
  const summary = summaryAt(0, 'HR_night');
  // Plausible samples, implausible ones and sentinels: in every case none is added after the last one.
  const counted =
    (request.records[summary + LAYOUT.COUNT] ?? 0) + (request.records[summary + LAYOUT.IMPLAUSIBLE] ?? 0);
  return counted > expected.length ? undefined : samples;
}

function isInOtherUnit(body: Uint8Array): boolean {
  const outcome = readExactly(body, LIMITS, exactKernel) as { readonly findings?: readonly Finding[] };
  return outcome.findings?.[0]?.type === 'unit_error';
}

/** Whether the parser takes `array` for what JSON.parse and rounding to a float make of it. */
function isExact(array: string, after = ''): boolean {
  const actual = decode(array, after);
  const expected = (JSON.parse(array) as number[]).map(Math.fround);
  return actual !== undefined && expected.every((value, index) => Object.is(actual[index], value));
}

/** Digits without a leading zero. */
function digits(random: Random, count: number): string {
  return String(10 ** (count - 1) + below(random, 9 * 10 ** (count - 1)));
}

type Write = () => string;

/** Writes the samples of one array in forms that are decoded as vectors: up to tenths, thousandths, or 15 decimals; and gaps. */
function usual(random: Random): Write {
  const decimalsMax = pick(random, [1, 3, 15]);
  const gaps = pick(random, [0, 0.1]);
  return () => {
    if (random() < gaps) return pick(random, ['-1', '0']);
    const whole = random() < 0.1 ? '0' : digits(random, 1 + below(random, 3));
    const decimals = below(random, decimalsMax + 1);
    return decimals === 0
      ? whole
      : `${whole}.${String(below(random, 10 ** decimals)).padStart(decimals, '0')}`;
  };
}

/** Tokens without a space in them. */
function words(text: string): string[] {
  return text.split(' ');
}

/** The last three stand on lines of their own, as pretty printers write them. */
const SEPARATORS = [',', ', ', ',\n        ', ',\r\n\t', ',   '];
const UNUSUAL = [
  ...words('-1 -0 -2 -61.5 1.25 61.123 0.05 0.00 1000 1234.5 12345 8388608.5'),
  ...words('-1.25 -61.123 0.0005 1.2345 1.2340 1.23450 61.1234 101.1234 1000.12 1234.567 12345.678'),
  ...words('999999999999999 0.00000000000001 123456.789012345'),
  ...words('-10 -11 -1.0 0.12345678901234567 0.1234567890123456 1.1234567890123456 12.12345678901234567'),
  ...words('1e1 1E1 6.1e1 61e0 61.5e+0 1.25e1 1.2e15 61.2E1 1234567890123456 0.1234567890123456'),
  ...words('61.833333333333336 101.33333333333333 14.499999999999998 61.50000000000000000000001 -0.0e-5'),
  // Midway between two float32, or as near as a double comes; beyond float32.
  ...words(
    '16777217 16777217.000000001 16777216.999999998 8388609.5 8388609.50000000000000001 1e39 -3.5e38 1e-46',
  ),
  ...' 5|  -1|5 | 5 |\n5|\t61.5\r\n|  61.5'.split('|'),
  // Lengths around 256, which no byte holds.
  ...Array.from({ length: 8 }, (_, index) => '62'.padEnd(252 + index)),
];
const BROKEN = [
  ...words('01 00 007 00.5 01.5 1. 61. .5 . - -.5 -01 +1 --1 1- 6-1 1.2.3 1..2 .1.2 12.3.4 1.23.'),
  ...words('01.25 00.25 000.125 001.5 012.345 .25 .125 1..25 1.2.34 1.23.4 1.234. 12.345. 123.456. 123.4.6'),
  ...words(
    '6:25 6/25 61,.25 6-1.25 61.-25 61.2-5 61.25- 61.2a5 1.2\u00003 12\u00003.45 1234. 12345. 1.234.567',
  ),
  ...words('60;61 60:61 60/1 6/ /6 a 6a a6 6: :6 6_0 6\u0000 \u00006 \u00e9 6\u00e9 0x1 NaN Infinity null'),
  ...words('true "60" "" [] [60] [60 {} } 60} {"a":1} 60" \\6 1e 1e+ e5 1.e5'),
  ...'| |60 61|6 0|61. 5|61 .5|61.2 5|61 .25|6 1.25'.split('|'),
  ...words('--1 -1- -1.a -1. -:1 6a.333333333333 61.3333333a33333 06.33333333333333 6\u00e9.333333333333'),
  ...words('.33333333333333 61.333333333.3333 -.1234567 1\u0080\u0080.25 61.3333333333333\u00b1'),
];
/** Too large to be a number: refused, by the exact path. */
const INFINITE = words('1e999 -1e999 2e308');

t.test('arrays of every length, in every mix of forms, with any text after them', async (t) => {
  const random = seededRandom(SEED);
  const behinds = ['', ',"x":"],,],1.5]"', ` ${' '.repeat(70)}`, ',"past_sessions":[]'];
  for (let length = 0; length <= 70; length++) {
    for (let round = 0; round < 40; round++) {
      const separator = pick(random, SEPARATORS);
      const write = usual(random);
      const only = round % 4 === 0 ? write() : undefined;
      const array = `[${Array.from({ length }, () => only ?? write()).join(separator)}]`;
      if (!isExact(array, pick(random, behinds))) t.fail(array);
    }
  }
  t.pass();
});

t.test('an unusual number anywhere is decoded, and its neighbours too', async (t) => {
  const random = seededRandom(SEED + 1);
  for (const token of UNUSUAL) {
    for (const separator of SEPARATORS) {
      for (let length = 1; length <= 40; length++) {
        const tokens = Array.from({ length }, usual(random));
        tokens[below(random, length)] = token;
        if (length % 3 === 0) tokens[below(random, length)] = pick(random, UNUSUAL);
        if (!isExact(`[${tokens.join(separator)}]`)) t.fail(`[${tokens.join(separator)}]`);
      }
    }
  }
  t.pass();
});

t.test('a value that is no finite number is deferred, in every place', async (t) => {
  const random = seededRandom(SEED + 3);
  for (const token of [...BROKEN, ...INFINITE]) {
    for (const separator of SEPARATORS) {
      for (let length = 1; length <= 24; length++) {
        const tokens = Array.from({ length }, usual(random));
        if (token.trim() === '' && length === 1) continue; // an empty array
        tokens[below(random, length)] = token;
        const text = `{"current_session":{"HR_night":[${tokens.join(separator)}]}}`;
        if (parser.read(Buffer.from(text)) !== undefined) t.fail(text);
      }
    }
  }
  t.pass();
});

t.test('any byte in the place of any other is read as JSON.parse reads it, or left', async (t) => {
  const random = seededRandom(SEED + 4);
  for (let round = 0; round < 20_000; round++) {
    const tokens = Array.from({ length: 1 + below(random, 30) }, usual(random));
    const bytes = Buffer.from(`[${tokens.join(pick(random, SEPARATORS))}]`);
    const put = random() < 0.7 ? pick(random, [...Buffer.from('0123456789.,, []-\n')]) : below(random, 128);
    bytes[1 + below(random, bytes.length - 2)] = put;
    const array = bytes.toString('latin1');
    const isTaken = parser.read(Buffer.from(`{"current_session":{"HR_night":${array}}}`)) !== undefined;
    if (isTaken && !(isJson(bytes) && isExact(array))) t.fail(array);
  }
  t.pass();
});

t.test('any limit is taken, and one more is left', async (t) => {
  const random = seededRandom(SEED + 6);
  for (let limit = 1; limit <= 140; limit++) {
    const limited = new WasmParser({ daySamplesMax: limit, nightSamplesMax: limit });
    for (const separator of SEPARATORS) {
      for (const token of ['37', '36.5', '36.834', undefined]) {
        const body = (length: number): Buffer => {
          const write = (): string => token ?? String(30 + below(random, 60) / 10);
          const array = Array.from({ length }, write).join(separator);
          return Buffer.from(`{"current_session":{"HR_night":[${array}],"RR_day_1h":[${array}],"age":30}}`);
        };
        const request = limited.read(body(limit));
        t.equal(request?.records[LAYOUT.AGE], 30, `${limit} of ${token} are taken`);
        t.equal(limited.read(body(limit + 1)), undefined, `${limit + 1} of ${token} are left`);
      }
    }
  }
});
