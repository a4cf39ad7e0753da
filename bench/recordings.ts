import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { PROVIDERS, readRecording, recordingProblem, type Provider } from '#adapters/recording.js';
import { messageOf } from '#acuity/base/errors.js';
import { seededRandom, type Random } from '#acuity/base/random.js';
import { textTable } from '#acuity/base/table.js';
import { changed, randomGenome, recordingOf, type Genome } from './recordings/genome.js';
import { UsageError } from './usage.js';

export const USAGE = `npm run bench -- recordings [options]

  --bytes N    size of the recordings that are searched (default 65536)
  --largest N  size at which the dearest are timed again (default 4194304, the limit of a body)
  --starts N   recordings drawn at random for each provider (default 30)
  --steps N    changes of the dearest of them (default 30)
  --seed N     of the draws (default 1)`;

/** A recording costs a token for this much of its body. */
const TOKEN_BYTES = 8_192;
/** No recording may hold more brackets: the bound of its structure. */
const BRACKETS_MAX = 200_000;

interface Dearest {
  readonly genome: Genome;
  readonly ms: number;
  readonly bytes: number;
  readonly isRead: boolean;
}

/** The recordings that take the longest to read, of each provider. @throws UsageError */
export async function runRecordings(args: readonly string[]): Promise<void> {
  const values = parse(args);
  const random = seededRandom(whole(values.seed));
  process.stdout.write(`${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}\n\n`);
  const rows = PROVIDERS.map((provider) => {
    const small = search(provider, whole(values.bytes), whole(values.starts), whole(values.steps), random);
    return { small, large: measured(small.genome, whole(values.largest)) };
  });
  const perToken = ({ ms, bytes }: Dearest) => (ms * TOKEN_BYTES) / bytes;
  process.stdout.write(
    `${textTable([
      ['provider', 'ms', 'ms/token', 'largest: ms', 'ms/token', 'outcome', 'recording'],
      ...rows
        .toSorted((a, b) => perToken(b.large) - perToken(a.large))
        .map(({ small, large }) => [
          small.genome.provider,
          ...[small.ms, perToken(small), large.ms, perToken(large)].map((value) => value.toFixed(2)),
          large.isRead ? 'read' : 'refused',
          JSON.stringify({ ...small.genome, provider: undefined }),
        ]),
    ])}\n`,
  );
}

function search(provider: Provider, bytes: number, starts: number, steps: number, random: Random): Dearest {
  let best = measured(randomGenome(provider, random), bytes);
  for (let step = 1; step < starts + steps; step++) {
    const genome = step < starts ? randomGenome(provider, random) : changed(best.genome, random);
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

function parse(args: readonly string[]) {
  const option = (value: string) => ({ type: 'string', default: value }) as const;
  try {
    const options = {
      bytes: option('65536'),
      largest: option('4194304'),
      starts: option('30'),
      steps: option('30'),
      seed: option('1'),
    };
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function whole(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new UsageError('each option wants a whole number');
}
