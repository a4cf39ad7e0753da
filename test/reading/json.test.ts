import t from 'tap';
import { isJson } from '../fixtures/bodyVerdict.js';
import { below, pick, seededRandom, type Random } from '#acuity/base/random.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';

/** Where bytes stop being JSON: the parser against the engine. */

const CASES = Number(process.env['FUZZ_CASES'] ?? 20_000);

const parser = new WasmParser(DEFAULT_SERIES_LIMITS);

function firstBadByte(bytes: Uint8Array): number {
  parser.open(bytes);
  const found = parser.check({ levelsMax: 64, bracketsMax: 1e9, stringsMax: 1e9 });
  return found === 'beyondBounds' ? NaN : found;
}

/** Texts, and the first byte that can't go on; of those that are JSON, −1. */
const OFFSETS = String.raw`
-1: 1 |  "a"  | 1e5 | "${'\u007f'}" | "${'\u00e9\u20ac\u{1f600}'}"
0: .5 | +1 | Infinity | // x | ${'\u00a0'}1 | ${'\ufeff'}1
1: - | -a | 00 | 01 | 0x10 | " | "${'\t'}" | [,1] | {a:1}
2: -01 | 1. | 1.e5 | 1e | "a | "\x" | "\ | [1}  | []] | {}{}
3: 1e+ | 1E-x | nul | nulL | [1,] | [1 2] | [1,${'\u00e9'}]
4: truefalse | {"a"} | [[[[
5: "\u12g4" | "\u12 | {"a":}
6: {"a":1]
7: {"a":1,} | {"a":1 "b":2}`;

/** Bytes of a string that are no UTF-8, in hexadecimal; each is wrong where it begins, the cut one where it ends. */
const NO_UTF8 = '80 c0af e080af f08080af eda080 f4908080 f888808080 e28220'.split(' ');

t.test('texts stop being JSON at the first byte that can’t go on', async (t) => {
  t.equal(firstBadByte(Buffer.from(' \t\r\n')), 4);
  for (const line of OFFSETS.split('\n').slice(1)) {
    const [offset = '', texts = ''] = line.split(/: (.*)/);
    for (const text of texts.split(' | '))
      t.equal(firstBadByte(Buffer.from(text.trimEnd())), Number(offset), text);
  }
  for (const hex of NO_UTF8) t.equal(firstBadByte(Buffer.from(`22${hex}22`, 'hex')), 1, hex);
});

t.test('all 64 levels are distinguished', async (t) => {
  const brackets = Array.from({ length: 64 }, (_, level) => (level % 3 === 0 ? '{"a":' : '['));
  const closing = brackets.map((bracket) => (bracket === '[' ? ']' : '}')).toReversed();
  const text = `${brackets.join('')}0${closing.join('')}`;
  t.equal(firstBadByte(Buffer.from(text)), -1);
  for (let at = text.indexOf('0') + 1; at < text.length; at++) {
    const wrong = Buffer.from(text);
    wrong[at] = text[at] === ']' ? 0x7d : 0x5d;
    t.equal(firstBadByte(wrong), at);
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

t.test(
  'the engine agrees; what stands before the offset could have gone on, what stands at it could not',
  async (t) => {
    const random = seededRandom(Number(process.env['FUZZ_SEED'] ?? 1));
    let valid = 0;
    for (let count = 0; count < CASES; count++) {
      const bytes = document(random);
      const offset = firstBadByte(bytes);
      const hex = bytes.toString('hex');
      if ((offset === -1) !== isJson(bytes)) t.fail('they disagree', { hex });
      if (offset === -1) {
        valid++;
        continue;
      }
      const before = firstBadByte(bytes.subarray(0, offset));
      // A character takes four bytes at most: with so many, it is seen to be wrong.
      const shorter = firstBadByte(bytes.subarray(0, offset + 4));
      if (before !== -1 && before !== offset) t.fail('the rest was bad before', { hex });
      if (offset < bytes.length && shorter !== offset) t.fail('it was not bad', { hex });
    }
    t.ok(valid > CASES / 20 && valid < CASES / 2, `both kinds were met, ${valid} of ${CASES} valid`);
  },
);
