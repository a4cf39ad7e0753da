/** The command `acuity config`, and the configuration for all other commands. */
import type { Command } from 'commander';
import { messageOf } from '../base/errors.js';
import { environment, prepareEnvironment, readConfig, type Config } from '../config/options.js';
import { asText, configurationTable, shown } from '../config/documentation.js';
import { print } from '../base/process/print.js';
import { readNorms } from '../contract/norms.js';
import { EXIT } from '../base/process/exitCodes.js';

/**
 * The configuration of this process. If it has mistakes, prints one line for each and exits with 78. Import native
 * libraries only after it: they read the environment, which it prepares, when they load.
 */
export function configOrExit(): Config {
  prepareEnvironment();
  const reading = readConfig(environment());
  if (!reading.ok) return exitWith(reading.mistakes);
  try {
    readNorms(reading.config.norms);
    return reading.config;
  } catch (error) {
    return exitWith([messageOf(error)]);
  }
}

function exitWith(mistakes: readonly string[]): never {
  process.stderr.write(mistakes.map((mistake) => `${mistake}\n`).join(''));
  process.exit(EXIT.misconfigured);
}

export function registerConfig(program: Command): void {
  program
    .command('config')
    .description('print the effective configuration and the documentation of each variable')
    .option('--json', 'print the effective values as one JSON object')
    .option('--markdown', 'print the documentation as a Markdown table, without this machine’s values')
    .action(({ json, markdown }: { json?: boolean; markdown?: boolean }) =>
      print(markdown ? configurationTable() : json ? asJson(configOrExit()) : asText(configOrExit())),
    );
}

function asJson(config: Config): string {
  return `${JSON.stringify(shown(config), null, 2)}\n`;
}
