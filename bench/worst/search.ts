import { pick, seededRandom } from '#acuity/base/random.js';
import { textTable } from '#acuity/base/table.js';
import type { BodyProblem } from '#acuity/contract/problems.js';
import { furtherBlocks, readingTokens } from '#acuity/http/prices.js';
import { bodiesOf } from '#acuity/tune/load/payloads.js';
import { createReader } from '#acuity/read/read.js';
import type { ReadRequest } from '#acuity/night/request.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { bodyOf, ENDINGS, FILLERS, PLACES, type Genome } from './body.js';
import { ITEMS } from './items.js';

const MEBIBYTE = 1 << 20;
const BYTES = 65_536;

export type Reader = (bytes: Uint8Array) => object;

export interface SearchOptions {
  readonly read: Reader;
  readonly bytes: number;
  /** Random genomes that a family starts from. */
  readonly starts: number;
  /** Changes of the best one that are tried. */
  readonly steps: number;
  /** Intended processor time of one measurement; the minimum of five counts. */
  readonly measureMs: number;
  readonly random: () => number;
}

export interface Dearest {
  readonly genome: Genome;
  readonly bytes: number;
  readonly ms: number;
  /** Milliseconds for each token that the body costs its key. */
  readonly msPerToken: number;
}

const GENES = ['place', 'size', 'spaces', 'ending', 'filler', 'isWithin'] as const;

export const FAMILIES = (['element', 'member'] as const).flatMap((kind) =>
  Object.keys(ITEMS[kind]).map((item) => ({ kind, item })),
);

/**
 * The bodies that hold an event loop longest, by what they are full of: of each family the dearest that a search finds, and
 * the same at 4 MiB.
 */
export function worstTable(rounds: number): string {
  const options: SearchOptions = {
    read: createReader(DEFAULT_SERIES_LIMITS),
    bytes: BYTES,
    starts: 4 * rounds,
    steps: 8 * rounds,
    measureMs: 5,
    random: seededRandom(1),
  };
  const rows = FAMILIES.map((family) => {
    const small = searchFamily(family, options);
    return { small, large: measure({ ...small.genome, bytes: 4 * MEBIBYTE }, options) };
  }).toSorted((a, b) => b.small.msPerToken - a.small.msPerToken);
  const plain = Buffer.from(bodiesOf('baseline', 1)[0] ?? '');
  const parseMs = measureBody(plain, (bytes) => JSON.parse(Buffer.from(bytes).toString()) as object, 20);
  const lines = rows.map(({ small: { genome, ms, msPerToken }, large }) => {
    const { item, place, size, spaces, ending, filler, isWithin } = genome;
    const figures = [ms, msPerToken, large.ms, large.msPerToken].map((value) => value.toFixed(2));
    const body = [place, `size ${size}`, `${spaces} spaces`, ending, filler, isWithin ? 'within bounds' : ''];
    return [item, ...figures, body.join(' ').trim()];
  });
  const header = ['family', 'ms', 'ms/token', '4 MiB: ms', 'ms/token', 'body'];
  return `JSON.parse of a plain body: ${(1000 * parseMs).toFixed(1)} µs; the dearest body of each family at ${BYTES} bytes\n\n${textTable([header, ...lines])}`;
}

/** The most expensive body found in a family. */
export function searchFamily(family: Pick<Genome, 'kind' | 'item'>, options: SearchOptions): Dearest {
  const drawn = (): Genome => ({ ...family, ...randomGenome(family.kind, options) });
  let best = measure(drawn(), options);
  const tryOne = (genome: Genome): void => {
    const found = measure(genome, options);
    if (found.msPerToken > best.msPerToken) best = found;
  };
  for (let start = 1; start < options.starts; start++) tryOne(drawn());
  for (let step = 0; step < options.steps; step++) tryOne(changed(best.genome, options));
  return measure(best.genome, options);
}

function randomGenome(kind: Genome['kind'], { random, bytes }: SearchOptions): Omit<Genome, 'kind' | 'item'> {
  return {
    place: pick(random, Object.keys(PLACES[kind])),
    size: sizeOf(random),
    spaces: random() < 0.7 ? 0 : Math.floor(4 * random()),
    ending: pick(random, ENDINGS),
    filler: pick(random, FILLERS),
    isWithin: random() < 0.8,
    bytes,
  };
}

/** Small ones often, up to a few hundred. */
function sizeOf(random: () => number): number {
  return 1 + Math.floor(random() < 0.7 ? 8 * random() : random() < 0.8 ? 24 * random() : 200 * random());
}

/** The genome with one gene of another. */
function changed(genome: Genome, options: SearchOptions): Genome {
  const other = randomGenome(genome.kind, options);
  const name = pick(options.random, GENES);
  return { ...genome, [name]: other[name] };
}

/** Times the reader on the body of a genome. That each is answered rightly is a test's: test/bench/worst.test.ts. */
export function measure(genome: Genome, options: SearchOptions): Dearest {
  const body = bodyOf(genome);
  const answer = options.read(body);
  const ms = measureBody(body, options.read, options.measureMs);
  const tokens =
    1 + furtherBlocks(body.length) + readingTokens(answer as BodyProblem | ReadRequest, body.length);
  return { genome, bytes: body.length, ms, msPerToken: ms / tokens };
}

/** Milliseconds of processor time of one reading. */
export function measureBody(body: Uint8Array, read: Reader, measureMs: number): number {
  let runs = 1;
  while (millisOf(read, body, runs) < measureMs) runs *= 2;
  const times = Array.from({ length: 5 }, () => millisOf(read, body, runs) / runs);
  return Math.min(...times); // other load on the machine only ever adds
}

function millisOf(read: Reader, body: Uint8Array, runs: number): number {
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run++) read(body);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
