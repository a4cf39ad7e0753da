import { PROVIDERS, readRecording, recordingProblem, type Provider } from '#adapters/recording.js';
import { seededRandom, type Random } from '#acuity/base/random.js';
import { textTable } from '#acuity/base/table.js';
import { changed, randomGenome, recordingOf, type Genome } from './recordingGenome.js';

/** A recording costs a token for this much of its body. */
const TOKEN_BYTES = 8_192;
/** Of the recordings that are searched. */
const SEARCHED_BYTES = 65_536;
/** The dearest are timed again at this size: the limit of a body. */
const LARGEST_BYTES = 4_194_304;
/** No recording may hold more brackets: the bound of its structure. */
const BRACKETS_MAX = 200_000;

interface Dearest {
  readonly genome: Genome;
  readonly ms: number;
  readonly bytes: number;
  readonly isRead: boolean;
}

/** The recordings that take the longest to read, of each provider: `rounds` starts and as many steps of a search. */
export function recordingsTable(
  rounds: number,
  searchedBytes = SEARCHED_BYTES,
  largestBytes = LARGEST_BYTES,
): string {
  const random = seededRandom(1);
  const rows = PROVIDERS.map((provider) => {
    const small = search(provider, searchedBytes, rounds, random);
    return { small, large: measured(small.genome, largestBytes) };
  });
  const perToken = ({ ms, bytes }: Dearest) => (ms * TOKEN_BYTES) / bytes;
  return textTable([
    ['provider', 'ms', 'ms/token', 'largest: ms', 'ms/token', 'outcome', 'recording'],
    ...rows
      .toSorted((a, b) => perToken(b.large) - perToken(a.large))
      .map(({ small, large }) => [
        small.genome.provider,
        ...[small.ms, perToken(small), large.ms, perToken(large)].map((value) => value.toFixed(2)),
        large.isRead ? 'read' : 'refused',
        JSON.stringify({ ...small.genome, provider: undefined }),
      ]),
  ]);
}

function search(provider: Provider, bytes: number, rounds: number, random: Random): Dearest {
  let best = measured(randomGenome(provider, random), bytes);
  for (let step = 1; step < 2 * rounds; step++) {
    const genome = step < rounds ? randomGenome(provider, random) : changed(best.genome, random);
    const found = measured(genome, bytes);
    if (found.ms > best.ms) best = found;
  }
  return measured(best.genome, bytes);
}

/** The least processor time of three readings of a recording that has about so many bytes. */
function measured(genome: Genome, bytes: number): Dearest {
  const text = JSON.stringify(recordingOf(genome, itemsOf(genome, bytes)));
  const times = [1, 2, 3].map(() => {
    const recording = JSON.parse(text) as Record<string, unknown>;
    const start = process.cpuUsage();
    const isRead = isReadable(recording);
    const { user, system } = process.cpuUsage(start);
    return { ms: (user + system) / 1000, isRead };
  });
  const [least = { ms: NaN, isRead: false }] = times.toSorted((a, b) => a.ms - b.ms);
  return { genome, bytes: text.length, ...least };
}

/** As many sleeps and samples as fill so many bytes within the bounds of structure. */
function itemsOf(genome: Genome, bytes: number): number {
  const text = JSON.stringify(recordingOf(genome, 100));
  const brackets = text.match(/[[{]/g)?.length ?? 1;
  return Math.floor(100 * Math.min(bytes / text.length, BRACKETS_MAX / brackets));
}

function isReadable(recording: Readonly<Record<string, unknown>>): boolean {
  try {
    readRecording(recording);
    return true;
  } catch (error) {
    if (recordingProblem(error) === undefined) throw error;
    return false;
  }
}
