import type { Command } from 'commander';
import { messageOf } from '../base/errors.js';
import type { Config } from '../config/options.js';
import { OutputError, printAtOnce } from '../base/process/print.js';
import { configOrExit } from './config.js';
import type { BundleOrder } from './modelBundle.js';

/** `acuity model …`: custom networks, from training rows to a folder that can be served. */
export function registerModel(program: Command): void {
  const model = program.command('model').description('networks of your own (docs/MODELS.md)');
  model
    .command('rows')
    .description('write the feature rows of NDJSON requests: one request a line in, one line of tensors out')
    .action(() =>
      run(async (config) => {
        const { modelRows } = await import('./modelRows.js');
        await modelRows(config, process.stdin);
      }),
    );
  model
    .command('bundle')
    .description('put two graphs into a model folder: golden scores, hashes, manifest')
    .requiredOption('--base <file>', 'the graph without history')
    .requiredOption('--history <file>', 'the graph with history')
    .requiredOption('--out <folder>', 'the model folder to write')
    .requiredOption('--name <name>', 'what the network is called in X-Model-Version and in the metrics')
    .requiredOption('--version <version>', 'and its version')
    .option(
      '--golden <file>',
      'golden requests: JSON, [{"name": …, "request": …}]; by default the shipped network’s',
    )
    .option('--training <file>', 'a JSON object that describes the training, kept in the manifest')
    .option(
      '--measured <file>',
      'half-lives and reliabilities of measurements: JSON, `measured` of the shipped manifest',
    )
    .option('--card <file>', 'its model card')
    .option('--explain <folder>', 'a folder with explain.json, the table to explain its scores by')
    .action((flags: BundleOrder) =>
      run(async (config) => {
        const { bundleModel } = await import('./modelBundle.js');
        await bundleModel(flags, config, say);
      }),
    );
  model
    .command('check')
    .argument('<folder>', 'model folder')
    .description('say whether a model folder will serve: names, shapes, hashes, golden scores, speed')
    .action((folder: string) =>
      run(async (config) => {
        const { checkModel } = await import('./modelCheck.js');
        await checkModel(folder, config, say);
      }),
    );
}

const say = (line: string): void => printAtOnce(`${line}\n`);

async function run(command: (config: Config) => Promise<void>): Promise<void> {
  try {
    await command(configOrExit());
  } catch (error) {
    if (error instanceof OutputError) throw error;
    process.stderr.write(`acuity model: ${messageOf(error)}\n`);
    process.exitCode = 1;
  }
}
