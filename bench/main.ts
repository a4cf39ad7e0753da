/** `npm run bench -- COMMAND`: all of the project's own measurements. */
import { runCommand, UsageError } from './cli.js';

// Before ONNX Runtime loads: it reports usage to its vendor unless told not to.
process.env['ORT_DISABLE_TELEMETRY'] = '1';
const { runLoad, USAGE: LOAD } = await import('./load.js');
const { runPeers, USAGE: PEERS } = await import('./peers.js');
const { runMicro, USAGE: MICRO } = await import('./micro.js');
const { runLake, USAGE: LAKE } = await import('./lake.js');

interface BenchCommand {
  /** The question that it answers. */
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
  const command = COMMANDS[name];
  await runCommand(command?.usage ?? overview(), async () => {
    if (command !== undefined) return command.run(args);
    if (name !== '--help') throw new UsageError(`no bench is called ${name}`);
    process.stdout.write(`${overview()}\n`);
  });
}

function overview(): string {
  const lines = Object.entries(COMMANDS).map(([name, { answers }]) => `  ${name.padEnd(10)}${answers}`);
  return `npm run bench -- COMMAND [options]; --help after a command lists its options\n\n${lines.join('\n')}`;
}
