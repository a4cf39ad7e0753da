/** `npm run bench:worst`: the bodies that hold an event loop longest. */
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { DEFAULT_SERIES_LIMITS } from '#acuity/contract/request.js';
import { bodiesOf } from '#acuity/load/payloads.js';
import { createReader } from '#acuity/pipeline/read.js';
import { textTable } from './textTable.js';
import {
  FAMILIES,
  measure,
  measureBody,
  searchFamily,
  type Finding,
  type Reader,
  type SearchOptions,
} from './worst/search.js';

const { values } = parseArgs({
  options: {
    dist: { type: 'string' },
    families: { type: 'string', default: '' },
    bytes: { type: 'string', default: '65536' },
    starts: { type: 'string', default: '30' },
    steps: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  },
});
const MEBIBYTE = 1 << 20;

/** Another build's reader is timed but not checked: it may have another contract. */
async function readerOf(dist: string | undefined): Promise<Reader> {
  if (dist === undefined) return createReader(DEFAULT_SERIES_LIMITS);
  const url = pathToFileURL(resolve(dist, 'pipeline/read.js')).href;
  const other = (await import(url)) as { createReader: typeof createReader };
  return other.createReader(DEFAULT_SERIES_LIMITS);
}

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const options: SearchOptions = {
  read: await readerOf(values.dist),
  isChecked: values.dist === undefined,
  bytes: Number(values.bytes),
  starts: Number(values.starts),
  steps: Number(values.steps),
  measureMs: 5,
  random: seeded(Number(values.seed)),
};

const asked = values.families.split(',').filter((name) => name !== '');
const families = FAMILIES.filter(({ item }) => asked.length === 0 || asked.includes(item));
process.stdout.write(
  `${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}; JSON.parse of the baseline payload: ${parseMicros().toFixed(1)} µs\n` +
    `The dearest body of each family at ${options.bytes} bytes, and the same at 4 MiB:\n\n`,
);
const rows = families
  .map((family) => {
    const small = searchFamily(family, options);
    return { small, large: measure({ ...small.genome, bytes: 4 * MEBIBYTE }, options) };
  })
  .toSorted((a, b) => b.small.msPerToken - a.small.msPerToken);
process.stdout.write(
  `${textTable([
    ['family', 'ms', 'ms/64 KiB', '4 MiB: ms', 'ms/64 KiB', 'body'],
    ...rows.map(({ small, large }) => rowOf(small, large)),
  ])}\n`,
);

/** How fast the machine is now. */
function parseMicros(): number {
  const text = bodiesOf('baseline', 1)[0] ?? '';
  const body = Buffer.from(text);
  return 1000 * measureBody(body, (bytes) => JSON.parse(Buffer.from(bytes).toString()) as object, 20);
}

function rowOf(small: Finding, large: Finding): string[] {
  const { item, place, size, spaces, ending, filler, isWithin } = small.genome;
  const limits = isWithin ? 'within bounds' : '';
  const figures = [small.ms, small.msPerToken, large.ms, large.msPerToken].map((value) => value.toFixed(2));
  return [
    item,
    ...figures,
    [place, `size ${size}`, `${spaces} spaces`, ending, filler, limits].join(' ').trim(),
  ];
}
