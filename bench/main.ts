/** `npm run bench -- COMMAND`: all of the project's own measurements. */
import { UsageError } from './usage.js';

// Before ONNX Runtime loads: it reports usage to its vendor unless told not to.
process.env['ORT_DISABLE_TELEMETRY'] = '1';
const { runMicro, USAGE: MICRO } = await import('./micro.js');
const { runPeers } = await import('./peers.js');
const { USAGE: PEERS } = await import('./comparison/options.js');
const { runWorst, USAGE: WORST } = await import('./worst.js');
const { runExplained, USAGE: EXPLAINED } = await import('./explained.js');
const { runLake, USAGE: LAKE } = await import('./lake.js');
const { runLists, USAGE: LISTS } = await import('./lists.js');
const { runPayloads, USAGE: PAYLOADS } = await import('./payloads.js');
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
  explained: {
    answers: 'what explained requests cost, and take from the plain ones beside them',
    usage: EXPLAINED,
    run: runExplained,
  },
  lake: { answers: 'what a backfill costs, by format', usage: LAKE, run: runLake },
  lists: {
    answers: 'what a request costs as a line of a list, against one of its own',
    usage: LISTS,
    run: runLists,
  },
  payloads: {
    answers: "what both clients' adapters make of a folder of payloads",
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
