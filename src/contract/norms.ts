/** Norms: how raw results of tests are distributed among people. */
import { readFileSync, statSync } from 'node:fs';
import { messageOf, OperatorError } from '../base/errors.js';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { NUMBER_BOUNDS, TEST_SCORES, type TestScore } from '#rules/fields.js';

const CLOSED = { additionalProperties: false };
const people = Type.Integer({ minimum: 1 });
const words = Type.String({ minLength: 1 });
const years = Type.Integer({ minimum: 0, maximum: NUMBER_BOUNDS.age.maximum });
const OfSexSchema = Type.Object({ n: people, mean: Type.Number() }, CLOSED);

const BandSchema = Type.Object(
  { from: years, to: years, n: people, mean: Type.Number(), sd: Type.Number({ exclusiveMinimum: 0 }) },
  CLOSED,
);

/** How the raw results of a test are distributed among people: means and standard deviations by age and by sex. */
const NormSchema = Type.Object(
  {
    /** The person's task in the test. */
    title: words,
    /** The score that its percentile measures. A higher raw result means more of that score. */
    score: Type.Unsafe<TestScore>({ enum: TEST_SCORES }),
    /** The unit of a raw result, which ranges from `least` to `most`. */
    unit: words,
    least: Type.Number(),
    most: Type.Number(),
    isWhole: Type.Boolean(),
    /** The source of the numbers. */
    source: words,
    /** The people who were tested, and when. */
    population: words,
    /** The number of all people, and their mean. */
    n: people,
    mean: Type.Number(),
    sexes: Type.Object({ M: OfSexSchema, F: OfSexSchema }, CLOSED),
    /** Completed years, both ends included; the norm does not cover the years between the bands. */
    ages: Type.Array(BandSchema, { minItems: 1 }),
  },
  CLOSED,
);
export type Norm = Type.Static<typeof NormSchema>;

/** By the name of the test. */
export type Norms = ReadonlyMap<string, Norm>;

const NormsSchema = Type.Record(Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }), NormSchema, CLOSED);

/** The norms in `value`, or what is wrong with it. */
export function normsIn(value: unknown): Norms | string {
  if (!Value.Check(NormsSchema, value)) {
    const [error] = Value.Errors(NormsSchema, value);
    const place = error?.instancePath.slice(1) || 'the file';
    return `${place} ${error?.keyword === 'boolean' ? 'is no name there' : error?.message}`;
  }
  const norms = new Map(Object.entries(value));
  for (const [name, { least, most, ages }] of norms) {
    const isInOrder = ages.every(({ from, to }, index) => from <= to && from > (ages[index - 1]?.to ?? -1));
    if (!isInOrder) return `the ages of ${name} are not in order, or overlap`;
    if (ages.some(({ mean }) => mean <= least || mean >= most)) return `a mean of ${name} is off its scale`;
  }
  return norms;
}

/** The norms that come with the service: `packages/norms`, which the compiler copies beside this file. */
export const NORMS: Norms = new Map(
  ['published', 'computed'].flatMap((name) => {
    const text = readFileSync(new URL(`../norms/${name}.json`, import.meta.url), 'utf8');
    return Object.entries(JSON.parse(text) as Record<string, Norm>);
  }),
);

/**
 * The norms of the service, and those in the operator's own `file` ('' for none), which come first.
 * @throws OperatorError
 */
export function readNorms(file: string): Norms {
  return file === '' ? NORMS : new Map([...NORMS, ...ownNorms(file)]);
}

function ownNorms(file: string): Norms {
  try {
    // A pipe would let the start wait for ever.
    if (!statSync(file).isFile()) throw new Error('not a file');
    const norms = normsIn(JSON.parse(readFileSync(file, 'utf8')));
    if (typeof norms !== 'string') return norms;
    throw new Error(norms);
  } catch (error) {
    const cause = messageOf(error).replaceAll(/\s+/g, ' ');
    const form = 'a file in the form of packages/norms/published.json';
    throw new OperatorError(`ACUITY_NORMS must be ${form}; of ${file}: ${cause}`, { cause: error });
  }
}
