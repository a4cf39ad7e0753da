/** `npm run bench -- COMMAND`: all of the project's own measurements. */
import { isUsageError } from './cli.js';

// Before ONNX Runtime loads: it reports usage to its vendor unless told not to.
process.env['ORT_DISABLE_TELEMETRY'] = '1';
const { runLoad, USAGE: LOAD } = await import('./load.js');
const { runPeers, USAGE: PEERS } = await import('./peers.js');
const { runMicro, USAGE: MICRO } = await import('./micro.js');
const { runLake, USAGE: LAKE } = await import('./lake.js');

const EXIT_USAGE = 64;

interface BenchCommand {
  /** What question it answers. */
  readonly answers: string;
  readonly usage: string;
  run(args: readonly string[]): Promise<void>;
}

const COMMANDS: Readonly<Record<string, BenchCommand>> = {
  load: { answers: 'p99 at a rate on this machine, and what to set', usage: LOAD, run: runLoad },
  peers: {
    answers: 'the service beside what else could be written, or beside a revision',
    usage: PEERS,
    run: runPeers,
  },
  micro: { answers: 'what each stage costs alone, and the dearest bodies', usage: MICRO, run: runMicro },
  lake: { answers: 'what a backfill costs, by format', usage: LAKE, run: runLake },
};

// An exit handler ends the servers; without this a signal would not run it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

await main(process.argv.slice(2));

async function main([name = '--help', ...args]: readonly string[]): Promise<void> {
  if (name === '--help') return void process.stdout.write(`${overview()}\n`);
  const command = COMMANDS[name];
  if (command === undefined) return fail(`no bench is called ${name}`, overview());
  if (args.includes('--help')) return void process.stdout.write(`${command.usage}\n`);
  try {
    await command.run(args);
  } catch (error) {
    if (!isUsageError(error)) throw error;
    fail(error.message, command.usage);
  }
}

function overview(): string {
  const lines = Object.entries(COMMANDS).map(([name, { answers }]) => `  ${name.padEnd(10)}${answers}`);
  return `npm run bench -- COMMAND [options]; --help after a command lists its options\n\n${lines.join('\n')}`;
}

function fail(mistake: string, usage: string): void {
  process.stderr.write(`${mistake}\n\n${usage}\n`);
  process.exitCode = EXIT_USAGE;
}
