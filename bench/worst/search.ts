import { pick } from '#acuity/base/random.js';
import type { BodyProblem } from '#acuity/contract/problems.js';
import { furtherBlocks } from '#acuity/http/body.js';
import { readingTokens } from '#acuity/http/readingTokens.js';
import type { ReadRequest } from '#acuity/records/request.js';
import { checkAnswer, verdictOn } from './answers.js';
import {
  bodyOf,
  ELEMENT_NAMES,
  ELEMENT_PLACE_NAMES,
  ENDINGS,
  FILLERS,
  MEMBER_NAMES,
  MEMBER_PLACE_NAMES,
  type Genome,
} from './body.js';

/** Searches for the bodies that hold an event loop longest, by family: the kind of item that fills the body. */

export type Reader = (bytes: Uint8Array) => object;

export interface SearchOptions {
  readonly read: Reader;
  /** Whether each answer is checked against plain code; impossible for a reader of another contract. */
  readonly isChecked: boolean;
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

export const FAMILIES: readonly Pick<Genome, 'kind' | 'item'>[] = [
  ...ELEMENT_NAMES.map((item) => ({ kind: 'element', item }) as const),
  ...MEMBER_NAMES.map((item) => ({ kind: 'member', item }) as const),
];

/** The most expensive body found in a family. */
export function searchFamily(family: Pick<Genome, 'kind' | 'item'>, options: SearchOptions): Dearest {
  let best = measure({ ...randomGenome(options), ...family, ...placeOf(family, options) }, options);
  const tryOne = (genome: Genome): void => {
    const found = measure(genome, options);
    if (found.msPerToken > best.msPerToken) best = found;
  };
  for (let start = 1; start < options.starts; start++) {
    tryOne({ ...randomGenome(options), ...family, ...placeOf(family, options) });
  }
  for (let step = 0; step < options.steps; step++) tryOne(changed(best.genome, options));
  return measure(best.genome, options);
}

function placeOf({ kind }: Pick<Genome, 'kind'>, { random }: SearchOptions): Pick<Genome, 'place'> {
  return {
    place: pick<Genome['place']>(random, kind === 'element' ? ELEMENT_PLACE_NAMES : MEMBER_PLACE_NAMES),
  };
}

function randomGenome({ random, bytes }: SearchOptions): Omit<Genome, 'kind' | 'item' | 'place'> {
  return {
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

function changed(genome: Genome, options: SearchOptions): Genome {
  const { random } = options;
  const other = randomGenome(options);
  const kind = random();
  if (kind < 0.25) return { ...genome, ...placeOf(genome, options) };
  if (kind < 0.4) return { ...genome, size: other.size };
  if (kind < 0.55) return { ...genome, size: Math.max(1, genome.size + (random() < 0.5 ? 1 : -1)) };
  if (kind < 0.7) return { ...genome, ending: other.ending };
  if (kind < 0.8) return { ...genome, spaces: other.spaces };
  if (kind < 0.9) return { ...genome, filler: other.filler };
  return { ...genome, isWithin: !genome.isWithin };
}

/** Times the reader on the body of a genome, after checking the answer. */
export function measure(genome: Genome, options: SearchOptions): Dearest {
  const body = bodyOf(genome);
  const answer = options.read(body);
  if (options.isChecked) checkAnswer(verdictOn(body), 'kind' in answer ? (answer as BodyProblem) : undefined);
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
