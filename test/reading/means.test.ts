import t from 'tap';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { below, seededRandom, type Random } from '#acuity/base/random.js';

/**
 * Samples of many decimals: each is `Math.fround(JSON.parse(text))`, to the last bit. The numbers are those that a
 * float can't tell apart: a double midway between two floats, its neighbours, and what rounds to them.
 */

const CASES = Number(process.env['FUZZ_CASES'] ?? 200_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);
const PER_ARRAY = 1_000;

const words = new DataView(new ArrayBuffer(8));

/** The double `units` of its last place further on. */
function beside(value: number, units: number): number {
  words.setFloat64(0, value);
  words.setBigInt64(0, words.getBigInt64(0) + BigInt(units));
  return words.getFloat64(0);
}

/** Midway between two floats below 1000. */
function middle(random: Random): number {
  const low = Math.fround(random() * 10 ** below(random, 4));
  words.setFloat32(0, low);
  words.setUint32(0, words.getUint32(0) + 1);
  return (low + words.getFloat32(0)) / 2;
}

const KINDS: Readonly<Record<string, (random: Random) => string>> = {
  'a middle, with all decimals that fit': (random) => middle(random).toFixed(16),
  'a middle, cut or rounded': (random) => middle(random).toFixed(9 + below(random, 8)),
  'some last places beside a middle': (random) => beside(middle(random), below(random, 41) - 20).toFixed(16),
  'the shortest text of a double near a middle': (random) =>
    String(beside(middle(random), below(random, 41) - 20)),
  means: (random) => String((1 + below(random, 60_000)) / (1 + below(random, 400))),
  'any digits': (random) => (random() * 10 ** below(random, 4)).toFixed(4 + below(random, 13)),
};

type Parser = Pick<WasmParser, 'read' | 'samples'>;

/** Texts that the parser decodes as another float than JSON.parse and rounding do. */
function different(parser: Parser, texts: readonly string[]): readonly string[] {
  parser.read(Buffer.from(`{"current_session":{"HR_night":[${texts.join()}]}}`));
  return texts.filter(
    (text, index) => !Object.is(parser.samples[index], Math.fround(JSON.parse(text) as number)),
  );
}

function* arraysOf(kind: (random: Random) => string, cases: number): Generator<readonly string[]> {
  const random = seededRandom(SEED);
  for (let count = 0; count < cases; count += PER_ARRAY)
    yield Array.from({ length: PER_ARRAY }, () => kind(random));
}

const kinds = Object.entries(KINDS);
for (const [name, kind] of kinds) {
  t.test(name, async (t) => {
    const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
    for (const texts of arraysOf(kind, CASES / kinds.length)) {
      const found = different(parser, texts);
      if (found.length > 0) t.fail(found.slice(0, 3).join(' '));
    }
    t.pass();
  });
}
