import fc from 'fast-check';
import t from 'tap';
import { isBeyondBounds, structureOf } from '../fixtures/bodyVerdict.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import type { StructureBounds } from '#rules/structure.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { createReader } from '#acuity/reading/read.js';

/** Brackets and strings, counted 64 bytes at a time, against plain code. */

const RUNS = Number(process.env['FUZZ_CASES'] ?? 20_000);

const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
const SMALL: StructureBounds = { levelsMax: 3, bracketsMax: 8, stringsMax: 5 };

function isWithin(bytes: Uint8Array, { levelsMax, bracketsMax, stringsMax }: StructureBounds): boolean {
  const { levels, brackets, strings } = structureOf(bytes);
  return levels <= levelsMax && brackets <= bracketsMax && strings <= stringsMax;
}

function agree(text: string | Uint8Array): boolean {
  const bytes = Buffer.from(text);
  return isFoundWithin(bytes) === isWithin(bytes, SMALL);
}

function isFoundWithin(text: string | Uint8Array): boolean {
  parser.open(Buffer.from(text));
  return parser.check(SMALL) !== 'beyondBounds';
}

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
    { numRuns: RUNS },
  );
  t.ok(within > RUNS / 20 && within < RUNS * 0.95, `both occur: ${within} of ${RUNS} within`);
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
  const fast = new WasmParser(DEFAULT_SERIES_LIMITS);
  for (const [count, isFast] of [
    [256, true],
    [257, false],
    [9_999, false],
  ] as const) {
    const body = Buffer.from(`{"current_session":{${members(count, '"v"')}}}`);
    t.equal(fast.read(body) !== undefined, isFast, `${count}`);
    t.match(read(body), { pastCount: 0, unknownFields: count });
  }
});
