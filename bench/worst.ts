import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { bodiesOf } from '#acuity/load/payloads.js';
import { createReader } from '#acuity/reading/read.js';
import { seededRandom } from '#acuity/base/random.js';
import { messageOf } from '#acuity/base/errors.js';
import { textTable } from '#acuity/base/table.js';
import {
  FAMILIES,
  measure,
  measureBody,
  searchFamily,
  type Dearest,
  type Reader,
  type SearchOptions,
} from './worst/search.js';

import { UsageError } from './usage.js';

export const USAGE = `npm run bench -- worst [options]

  --families LIST  of ${FAMILIES.map(({ item }) => item).join(', ')} (default all)
  --bytes N        size of the bodies that are searched (default 65536)
  --starts N       bodies drawn at random for each family (default 30)
  --steps N        changes of the dearest of them (default 60)
  --seed N         of the draws (default 1)
  --dist FOLDER    the reader of another build: timed but not checked`;

const MEBIBYTE = 1 << 20;

/** The bodies that hold an event loop longest. @throws UsageError */
export async function runWorst(args: readonly string[]): Promise<void> {
  const values = parse(args);
  const asked = values.families.split(',').filter((name) => name !== '');
  const unknown = asked.filter((name) => !FAMILIES.some(({ item }) => item === name));
  if (unknown.length > 0) throw new UsageError(`no family is called ${unknown.join(', ')}`);
  const options: SearchOptions = {
    read: await readerOf(values.dist),
    isChecked: values.dist === undefined,
    bytes: whole(values.bytes),
    starts: whole(values.starts),
    steps: whole(values.steps),
    measureMs: 5,
    random: seededRandom(whole(values.seed)),
  };
  process.stdout.write(
    `${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}; JSON.parse of the baseline payload: ${parseMicros().toFixed(1)} µs\n` +
      `The dearest body of each family at ${options.bytes} bytes, and the same at 4 MiB:\n\n`,
  );
  const rows = FAMILIES.filter(({ item }) => asked.length === 0 || asked.includes(item))
    .map((family) => {
      const small = searchFamily(family, options);
      return { small, large: measure({ ...small.genome, bytes: 4 * MEBIBYTE }, options) };
    })
    .toSorted((a, b) => b.small.msPerToken - a.small.msPerToken);
  process.stdout.write(
    `${textTable([
      ['family', 'ms', 'ms/token', '4 MiB: ms', 'ms/token', 'body'],
      ...rows.map(({ small, large }) => rowOf(small, large)),
    ])}\n`,
  );
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        dist: { type: 'string' },
        families: { type: 'string', default: '' },
        bytes: { type: 'string', default: '65536' },
        starts: { type: 'string', default: '30' },
        steps: { type: 'string', default: '60' },
        seed: { type: 'string', default: '1' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function whole(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new UsageError('--bytes, --starts, --steps and --seed want whole numbers');
}

/** Another build's reader is timed but not checked: it may have another contract. */
async function readerOf(dist: string | undefined): Promise<Reader> {
  if (dist === undefined) return createReader(DEFAULT_SERIES_LIMITS);
  const url = pathToFileURL(resolve(dist, 'reading/read.js')).href;
  const other = (await import(url)) as { createReader: typeof createReader };
  return other.createReader(DEFAULT_SERIES_LIMITS);
}

/** How fast the machine is now. */
function parseMicros(): number {
  const text = bodiesOf('baseline', 1)[0] ?? '';
  const body = Buffer.from(text);
  return 1000 * measureBody(body, (bytes) => JSON.parse(Buffer.from(bytes).toString()) as object, 20);
}

function rowOf(small: Dearest, large: Dearest): string[] {
  const { item, place, size, spaces, ending, filler, isWithin } = small.genome;
  const limits = isWithin ? 'within bounds' : '';
  const figures = [small.ms, small.msPerToken, large.ms, large.msPerToken].map((value) => value.toFixed(2));
  return [
    item,
    ...figures,
    [place, `size ${size}`, `${spaces} spaces`, ending, filler, limits].join(' ').trim(),
  ];
}
