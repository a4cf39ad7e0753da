import type { Command } from 'commander';
import { prepareEnvironment } from '../config/options.js';
import { configOrExit } from './config.js';

export function registerScore(program: Command): void {
  program
    .command('score')
    .description('score NDJSON without HTTP: one request a line on standard input, one answer a line out')
    .addHelpText(
      'after',
      '\nA bad line gives {"error":{"line":N,"status":S,"detail":…}} in its place and, at the end, exit code 65.',
    )
    .action(async () => {
      const config = configOrExit();
      prepareEnvironment();
      // Imported only now: the native libraries read the environment when they load.
      const { score } = await import('../batch/score.js');
      await score(config);
    });
}
