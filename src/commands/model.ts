import type { Command } from 'commander';
import { messageOf } from '../base/errors.js';
import { prepareEnvironment } from '../config/options.js';
import { configOrExit } from './config.js';

export function registerModel(program: Command): void {
  const model = program.command('model').description('networks of your own (docs/MODELS.md)');
  model
    .command('check')
    .argument('<folder>', 'model folder')
    .description('say whether a model folder will serve: names, shapes, hashes, golden scores, speed')
    .action(async (folder: string) => {
      const config = configOrExit();
      prepareEnvironment();
      // Imported only now: the native libraries read the environment when they load.
      const { checkModel } = await import('./modelCheck.js');
      try {
        await checkModel(folder, config, (line) => process.stdout.write(`${line}\n`));
      } catch (error) {
        process.stderr.write(`acuity model: ${messageOf(error)}\n`);
        process.exitCode = 1;
      }
    });
}
