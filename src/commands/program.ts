import { Command } from 'commander';
import { registerAdapt } from './adapt.js';
import { configOrExit, registerConfig } from './config.js';
import { registerHistory } from './history.js';
import { registerJudge } from './judge.js';
import { registerKeys } from './keys.js';
import { registerModel } from './model.js';
import { registerScore } from './score.js';
import { registerServe } from './serve.js';
import { registerTune } from './tune.js';
import { packageVersion } from '../base/process/packageVersion.js';
import { OutputError, printAtOnce } from '../base/process/print.js';
import type { ServeHooks } from '../serve/service.js';

/** The command line: all commands. `hooks` are passed on to `serve`. */
export async function parse(argv: readonly string[], hooks?: ServeHooks): Promise<void> {
  const program = new Command('acuity')
    .description('Cognitive and emotional scores from heart rate, breathing and sleep, over HTTP')
    .version(packageVersion())
    .configureOutput({ writeOut: printAtOnce, outputError })
    .enablePositionalOptions(); // `--version` after a command belongs to the command
  registerServe(program, hooks);
  registerScore(program);
  registerAdapt(program);
  registerJudge(program);
  registerModel(program);
  registerTune(program);
  registerHistory(program);
  registerKeys(program, () => configOrExit().keys);
  registerConfig(program);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    if (!error.isUnread) process.stderr.write(`acuity: ${error.message}\n`);
    process.exit(error.code);
  }
}

/** One line, a suggestion included; where a command is unknown, it says what lists them. */
function outputError(text: string, write: (text: string) => void): void {
  const told = text.replace(/^error: unknown command .*$/m, '$&; --help lists the commands');
  write(told.replace(/\n(?=\(Did you mean)/, ' '));
}
