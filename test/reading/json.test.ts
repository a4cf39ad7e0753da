import fc from 'fast-check';
import t from 'tap';
import { isJson } from '../fixtures/bodyVerdict.js';
import { below, pick, seededRandom, type Random } from '#acuity/base/random.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { firstBadByte as firstBadByteOfPlainCode } from '../fixtures/jsonScan.js';

/** Where bytes stop being JSON: the parser against the engine, and against plain code. */

const CASES = Number(process.env['FUZZ_CASES'] ?? 20_000);

const parser = new WasmParser(DEFAULT_SERIES_LIMITS);

function firstBadByte(bytes: Uint8Array): number {
  parser.open(bytes);
  const found = parser.check({ levelsMax: 64, bracketsMax: 1e9, stringsMax: 1e9 });
  return found === 'beyondBounds' ? NaN : found;
}

const offsets: readonly (readonly [text: string, byte: number])[] = [
  ['', 0],
  [' \t\r\n', 4],
  ['1', -1],
  [' "a" ', -1],
  ['-', 1],
  ['-a', 1],
  ['00', 1],
  ['01', 1],
  ['-01', 2],
  ['1.', 2],
  ['1.e5', 2],
  ['.5', 0],
  ['+1', 0],
  ['1e', 2],
  ['1e+', 3],
  ['1E-x', 3],
  ['1e5', -1],
  ['0x10', 1],
  ['Infinity', 0],
  ['nul', 3],
  ['nulL', 3],
  ['truefalse', 4],
  ['"', 1],
  ['"a', 2],
  ['"\t"', 1],
  ['"\u007f"', -1],
  ['"\\x"', 2],
  ['"\\u12g4"', 5],
  ['"\\u12', 5],
  ['"\\', 2],
  ['[1,]', 3],
  ['[,1]', 1],
  ['[1 2]', 3],
  ['[1}', 2],
  ['{"a":1]', 6],
  ['{"a"}', 4],
  ['{"a":}', 5],
  ['{"a":1,}', 7],
  ['{a:1}', 1],
  ['{"a":1 "b":2}', 7],
  ['[]]', 2],
  ['{}{}', 2],
  ['// x', 0],
  ['\u00a01', 0],
  ['\ufeff1', 0],
  ['[[[[', 4],
];

for (const [text, byte] of offsets) {
  t.test(`${JSON.stringify(text)} stops being JSON at ${byte}`, async (t) => {
    t.equal(firstBadByte(Buffer.from(text)), byte);
  });
}

const utf8: readonly (readonly [name: string, bytes: readonly number[], byte: number])[] = [
  ['two bytes', [0xc3, 0xa9], -1],
  ['three bytes', [0xe2, 0x82, 0xac], -1],
  ['four bytes', [0xf0, 0x9f, 0x98, 0x80], -1],
  ['the last code point', [0xf4, 0x8f, 0xbf, 0xbf], -1],
  ['a continuation byte alone', [0x80], 1],
  ['an overlong slash', [0xc0, 0xaf], 1],
  ['an overlong sequence of three', [0xe0, 0x80, 0xaf], 1],
  ['an overlong sequence of four', [0xf0, 0x80, 0x80, 0xaf], 1],
  ['a surrogate', [0xed, 0xa0, 0x80], 1],
  ['beyond the last code point', [0xf4, 0x90, 0x80, 0x80], 1],
  ['five bytes', [0xf8, 0x88, 0x80, 0x80, 0x80], 1],
  ['a sequence that another character breaks off', [0xe2, 0x82, 0x20], 1],
];

for (const [name, bytes, byte] of utf8) {
  t.test(`${name} in a string: ${byte}`, async (t) => {
    t.equal(firstBadByte(Uint8Array.from([0x22, ...bytes, 0x22])), byte);
  });
}

t.test('a character that the end of the bytes cuts is cut short, not wrong', async (t) => {
  const bytes = Buffer.from('"\u{1f600}"');
  for (let length = 1; length < bytes.length; length++) {
    t.equal(firstBadByte(bytes.subarray(0, length)), length);
  }
});

t.test('beyond ASCII outside of a string is wrong where it begins', async (t) => {
  t.equal(firstBadByte(Buffer.from('[1,\u00e9]')), 3);
});

t.test('all 64 levels are distinguished', async (t) => {
  const brackets = Array.from({ length: 64 }, (_, level) => (level % 3 === 0 ? '{"a":' : '['));
  const closing = brackets.map((bracket) => (bracket === '[' ? ']' : '}')).toReversed();
  const text = brackets.join('') + '0' + closing.join('');
  t.equal(firstBadByte(Buffer.from(text)), -1);
  for (let at = brackets.join('').length + 1; at < text.length; at++) {
    const wrong = Buffer.from(text);
    wrong[at] = text[at] === ']' ? 0x7d : 0x5d;
    t.equal(firstBadByte(wrong), at);
  }
});

t.test('a bad byte is found on every side of a block', async (t) => {
  const bad = ['\u0001', '\\q', '\\u00g0', '\n'];
  for (let length = 0; length < 80; length++) {
    for (const character of bad) {
      const text = `{"${'a'.repeat(length)}":"${'b'.repeat(length % 17)}${character}"}`;
      t.equal(firstBadByte(Buffer.from(text)), firstBadByteOfPlainCode(Buffer.from(text)), text);
    }
    for (const wide of ['\u00e9', '\u20ac', '\u{1f600}']) {
      const bytes = Buffer.from(`["${'a'.repeat(length)}${wide}${'b'.repeat(length % 19)}"]`);
      t.equal(firstBadByte(bytes), -1);
      for (let cut = length + 2; cut < bytes.length; cut++)
        t.equal(firstBadByte(bytes.subarray(0, cut)), cut);
    }
  }
});

t.test('bytes of a longer body after the end are not read', async (t) => {
  for (const text of ['"a', '[1', '12', 'tru', '{"a":', '"\\u00', '"\u00e9']) {
    firstBadByte(Buffer.from(`${text}${'"'.repeat(100)}`));
    firstBadByte(Buffer.from(`${text}${'0e]}'.repeat(100)}`));
    const bytes = Buffer.from(text);
    t.equal(firstBadByte(bytes), text === '12' ? -1 : bytes.length, text);
  }
});

t.test('every JSON document is JSON to the parser', async (t) => {
  const layout = fc.constantFrom(undefined, 1, '\t');
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), layout, (text, space) => {
      return firstBadByte(Buffer.from(JSON.stringify(JSON.parse(text), null, space))) === -1;
    }),
  );
  t.pass();
});

const TOKENS: readonly string[] = [
  ' ',
  ...'{ } [ ] , : " \\ \n \u0001 \u00e9 \u{1f600} \ufeff'.split(' '),
  ...'0 1 - . e E + 01 -0 1.5 1e999 {} [] "" "a" "\\u00e9" true false null tru'.split(' '),
  ...'"a":1 {"a":1} [1,2] \\ud800 "\\n" "\\q"'.split(' '),
];
const RAW = [0x80, 0xbf, 0xc0, 0xc3, 0xe0, 0xed, 0xf0, 0xf4, 0xff, 0x00];

/** Mostly nearly JSON. */
function document(random: Random): Buffer {
  let text = pick(random, [
    '{"a":[1,2.5,-3e2],"b":{"c":null}}',
    `{"a":"${'x'.repeat(below(random, 70))}","b":[${' '.repeat(below(random, 70))}]}`,
    '[true,"\u00e9\\n",{}]',
    '"x"',
    '-1.5e3',
    '',
  ]);
  for (let edits = below(random, 4); edits > 0; edits--) {
    const at = below(random, text.length + 1);
    text = text.slice(0, at) + pick(random, TOKENS) + text.slice(at + below(random, 3));
  }
  const bytes = Buffer.from(text);
  if (bytes.length > 0 && random() < 0.15) bytes[below(random, bytes.length)] = pick(random, RAW);
  return bytes;
}

t.test('the parser, the engine and plain code agree on what is JSON, and where not', async (t) => {
  const random = seededRandom(Number(process.env['FUZZ_SEED'] ?? 1));
  let valid = 0;
  for (let count = 0; count < CASES; count++) {
    const bytes = document(random);
    const isValid = isJson(bytes);
    if (isValid) valid++;
    const found = firstBadByte(bytes);
    if ((found === -1) !== isValid) t.fail('they disagree', { hex: bytes.toString('hex') });
    if (found !== firstBadByteOfPlainCode(bytes))
      t.fail('plain code disagrees', { hex: bytes.toString('hex') });
  }
  t.ok(valid > CASES / 20 && valid < CASES / 2, `both kinds were met, ${valid} of ${CASES} valid`);
});

t.test('what stands before the offset could have gone on, what stands at it could not', async (t) => {
  const random = seededRandom(2);
  for (let count = 0; count < CASES / 4; count++) {
    const bytes = document(random);
    const offset = firstBadByte(bytes);
    if (offset === -1) continue;
    const before = firstBadByte(bytes.subarray(0, offset));
    // A character takes four bytes at most: with so many, it is seen to be wrong.
    const shorter = firstBadByte(bytes.subarray(0, offset + 4));
    if (before !== -1 && before !== offset) t.fail('the rest was bad before', { hex: bytes.toString('hex') });
    if (offset < bytes.length && shorter !== offset) t.fail('it was not bad', { hex: bytes.toString('hex') });
  }
  t.pass();
});
