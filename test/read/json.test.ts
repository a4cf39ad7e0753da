import fc from 'fast-check';
import t from 'tap';
import { isBeyondBounds, isJson, structureOf } from '../fixtures/bodyVerdict.js';
import { below, pick, seededRandom, type Random } from '#acuity/base/random.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import type { StructureBounds } from '#rules/structure.js';
import { createReader } from '#acuity/read/read.js';
import { WasmParser } from '#acuity/read/wasmParser.js';

/** Where bytes stop being JSON, and how much structure they have: the parser against the engine and plain code. */

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

t.test('the engine agrees; what stands before the offset could have gone on', async (t) => {
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
});

const SMALL: StructureBounds = { levelsMax: 3, bracketsMax: 8, stringsMax: 5 };

function isWithin(bytes: Uint8Array, { levelsMax, bracketsMax, stringsMax }: StructureBounds): boolean {
  const { levels, brackets, strings } = structureOf(bytes);
  return levels <= levelsMax && brackets <= bracketsMax && strings <= stringsMax;
}

function agree(text: string): boolean {
  const bytes = Buffer.from(text);
  parser.open(bytes);
  return (parser.check(SMALL) !== 'beyondBounds') === isWithin(bytes, SMALL);
}

/** Brackets and strings, which the parser counts 64 bytes at a time. */
const token = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('"', '"', '"a"', '"\\""', '""', '"["', '"{[', ']}"') },
  { weight: 4, arbitrary: fc.constantFrom('{', '}', '[', ']', '{}', '[]', ']]', '[[') },
  { weight: 4, arbitrary: fc.constantFrom('\\', '\\\\', '\\"', '\\\\"', '"\\', '"\\\\') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(' ', 'a', ',', ':', '1', '\u00e9', '\u{1f600}', '\u0000', '[\u00db'),
  },
  // Up to and across block borders, so that the following text is on either side of one.
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 140 }).map((length) => ' '.repeat(length)) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 140 }).map((length) => `"${'a'.repeat(length)}`) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 70 }).map((length) => '\\'.repeat(length)) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 70 }).map((length) => `"${'\\'.repeat(length)}`) },
);
const text = fc.array(token, { maxLength: 60, size: 'max' }).map((tokens) => tokens.join(''));

t.test('any text is within the bounds for the scan if it is for plain code', async (t) => {
  let within = 0;
  fc.assert(
    fc.property(text, (text) => {
      if (isWithin(Buffer.from(text), SMALL)) within++;
      return agree(text);
    }),
    { numRuns: CASES },
  );
  t.ok(within > CASES / 20 && within < CASES * 0.95, `both occur: ${within} of ${CASES} within`);
});

/** Numbers, texts that are no names, `true`, `false` and `null`, as the engine sees them. */
function scalarsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + scalarsIn(inner), 0);
}

t.test('the values of a text are counted as the engine makes them, any white space between', async (t) => {
  const space = fc.stringMatching(/^[ \t\n\r]{0,70}$/);
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), space, (json, between) => {
      const parts = json.split(/("(?:[^"\\]|\\.)*")/);
      const spaced = parts.map((part, index) =>
        index % 2 === 1 ? part : part.replace(/[[\]{},]/g, `${between}$&${between}`),
      );
      const bytes = Buffer.from(spaced.join(''));
      parser.open(bytes);
      return parser.exports.scalarCount() === scalarsIn(JSON.parse(json));
    }),
    { numRuns: CASES / 10 },
  );
  for (let before = 0; before < 132; before++) {
    for (const text of ['[]', '[ ]', '{}', '{\n}', '[1]', '[ 1 ]', '{"a":[],"b":",[]"}', '["[",{},[ ],2]']) {
      const bytes = Buffer.from(`[${' '.repeat(before)}${text},${' '.repeat(before)}${text}]`);
      parser.open(bytes);
      t.equal(parser.exports.scalarCount(), 2 * scalarsIn(JSON.parse(text)), `${before} ${text}`);
    }
  }
});

t.test('runs of backslashes before a quote, wherever a block ends', async (t) => {
  for (let before = 0; before < 132; before++) {
    for (let run = 0; run < 70; run++) {
      for (const lead of ['"', '""', '']) {
        const text = `${lead}${'x'.repeat(before)}${'\\'.repeat(run)}"[[[[""`;
        if (!agree(text)) t.fail(JSON.stringify(text));
      }
    }
  }
  t.pass();
});

const BEYOND = {
  kind: 'unprocessable',
  findings: [
    {
      loc: ['body'],
      msg: 'Body should have at most 64 levels of nesting, 10000 objects and arrays, and 20000 strings',
      type: 'too_long',
      ctx: { max_levels: 64, max_brackets: 10_000, max_strings: 20_000 },
    },
  ],
};

const read = createReader(DEFAULT_SERIES_LIMITS);
const members = (count: number, value: string): string =>
  Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join();

const times = (text: string, count: number): string => Array(count).fill(text).join();

/** Texts around the bounds; each with one more of something is beyond. */
const edges: readonly (readonly [name: string, text: (more: number) => string, isJson: boolean])[] = [
  ['levels', (more) => `{"current_session":{"x":${'['.repeat(62 + more)}${']'.repeat(62 + more)}}}`, true],
  ['arrays', (more) => `{"current_session":{},"x":[${times('[]', 9_997 + more)}]}`, true],
  ['objects', (more) => `{"current_session":{},"past_sessions":[${times('{}', 9_997 + more)}]}`, true],
  ['strings', (more) => `{"current_session":{},"x":[${times('""', 19_998 + more)}]}`, true],
  ['names', (more) => `{"current_session":{${members(19_999 + more, '0')}}}`, true],
  ['levels of no JSON', (more) => `${'['.repeat(64 + more)}`, false],
  ['brackets after invalid JSON', (more) => `x${'[]'.repeat(10_000 + more)}`, false],
  ['strings after invalid JSON', (more) => `\u0000${'"\\""'.repeat(20_000 + more)}`, false],
  ['a string without an end', (more) => `${'""'.repeat(19_999 + more)}"[[[`, false],
];
t.test('one more than the bounds is refused, before what is wrong with the JSON', async (t) => {
  for (const [name, text, isJson] of edges) {
    const within = Buffer.from(text(0));
    t.notOk(isBeyondBounds(structureOf(within)));
    const outcome = read(within);
    if (isJson) t.not('kind' in outcome && outcome.kind, 'malformed');
    else t.match(outcome, { kind: 'malformed' });
    t.strictNotSame(outcome, BEYOND, name);
    const beyond = Buffer.from(text(1));
    t.ok(isBeyondBounds(structureOf(beyond)));
    t.strictSame(read(beyond), BEYOND, name);
  }
});

t.test('many unknown fields are left to the exact path, and answered right up to the bound', async (t) => {
  for (const [count, isFast] of [
    [256, true],
    [257, false],
    [9_999, false],
  ] as const) {
    const body = Buffer.from(`{"current_session":{${members(count, '"v"')}}}`);
    t.equal(parser.read(body) !== undefined, isFast, `${count}`);
    t.match(read(body), { pastCount: 0, unknownFields: count });
  }
});
