/** `npm run bench -- COMMAND`: all of the project's own measurements. */
import { UsageError } from './usage.js';

// Before ONNX Runtime loads: it reports usage to its vendor unless told not to.
process.env['ORT_DISABLE_TELEMETRY'] = '1';
const { runMicro, USAGE: MICRO } = await import('./micro.js');
const { runPeers } = await import('./peers.js');
const { USAGE: PEERS } = await import('./comparison/options.js');
const { runWorst, USAGE: WORST } = await import('./worst.js');
const { runBulk, USAGE: BULK } = await import('./bulk.js');
const { runExplained, USAGE: EXPLAINED } = await import('./explained.js');
const { runExports, USAGE: EXPORTS } = await import('./exports.js');
const { runLists, USAGE: LISTS } = await import('./lists.js');
const { runParquet, USAGE: PARQUET } = await import('./parquet.js');
const { runPayloads, USAGE: PAYLOADS } = await import('./payloads.js');
const { runRecordings, USAGE: RECORDINGS } = await import('./recordings.js');
const { runPrices, USAGE: PRICES } = await import('./prices.js');
const { runStages, USAGE: STAGES } = await import('./stages.js');

const EXIT_USAGE = 64;

interface BenchCommand {
  /** What question it answers. */
  readonly answers: string;
  readonly usage: string;
  run(args: readonly string[]): Promise<void>;
}

const COMMANDS: Readonly<Record<string, BenchCommand>> = {
  peers: {
    answers:
      'how the service compares with what else could be written, or with a revision of it (the default)',
    usage: PEERS,
    run: runPeers,
  },
  stages: { answers: 'where the processor time of a request goes', usage: STAGES, run: runStages },
  bulk: { answers: 'what a backfill costs, by format, beside HTTP', usage: BULK, run: runBulk },
  explained: {
    answers: 'what explained requests cost, and take from the plain ones beside them',
    usage: EXPLAINED,
    run: runExplained,
  },
  exports: {
    answers: 'what a long export of Apple Health costs to read',
    usage: EXPORTS,
    run: runExports,
  },
  lists: {
    answers: 'what a request costs as a line of a list, against one of its own',
    usage: LISTS,
    run: runLists,
  },
  parquet: {
    answers: 'what reads Parquet, how fast, and in how much memory',
    usage: PARQUET,
    run: runParquet,
  },
  recordings: {
    answers: 'which recordings of each provider take the longest to read, and how long',
    usage: RECORDINGS,
    run: runRecordings,
  },
  payloads: {
    answers: 'what becomes of a folder of recordings',
    usage: PAYLOADS,
    run: runPayloads,
  },
  micro: { answers: 'what each part costs alone', usage: MICRO, run: runMicro },
  prices: { answers: 'what the service works for a token, by kind of body', usage: PRICES, run: runPrices },
  worst: { answers: 'which bodies hold an event loop longest', usage: WORST, run: runWorst },
};

// An exit handler ends the servers; without this a signal would not run it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

await main(process.argv.slice(2));

/** Options without a command belong to `peers`. */
async function main([first = 'peers', ...rest]: readonly string[]): Promise<void> {
  if (first === '--help') return void process.stdout.write(`${overview()}\n`);
  const [name, args] = first.startsWith('-') ? ['peers', [first, ...rest]] : [first, rest];
  const command = COMMANDS[name];
  if (command === undefined) return fail(`no bench is called ${name}`, overview());
  if (args.includes('--help')) return void process.stdout.write(`${command.usage}\n`);
  try {
    await command.run(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    fail(error.message, command.usage);
  }
}

function overview(): string {
  const lines = Object.entries(COMMANDS).map(([name, { answers }]) => `  ${name.padEnd(10)}${answers}`);
  return `npm run bench -- [command] [options]; --help after a command lists its options\n\n${lines.join('\n')}`;
}

function fail(mistake: string, usage: string): void {
  process.stderr.write(`${mistake}\n\n${usage}\n`);
  process.exitCode = EXIT_USAGE;
}
