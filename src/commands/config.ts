import type { Command } from 'commander';
import { messageOf } from '../base/errors.js';
import { environment, readConfig, type Config } from '../config/options.js';
import { asText, configurationTable, shown } from '../config/documentation.js';
import { readNorms } from '../norms/norms.js';

/** EX_CONFIG of sysexits.h. */
const EXIT_MISCONFIGURED = 78;

/**
 * The configuration of this process. If it, or the file of norms that it names, has mistakes, prints one line for each
 * and exits with 78.
 */
export function configOrExit(): Config {
  const reading = readConfig(environment());
  const mistakes = reading.ok ? normsMistakes(reading.config) : reading.mistakes;
  if (reading.ok && mistakes.length === 0) return reading.config;
  process.stderr.write(mistakes.map((mistake) => `${mistake}\n`).join(''));
  process.exit(EXIT_MISCONFIGURED);
}

function normsMistakes({ norms }: Config): readonly string[] {
  try {
    readNorms(norms);
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}

export function registerConfig(program: Command): void {
  program
    .command('config')
    .description('print the effective configuration and the documentation of each variable')
    .option('--json', 'print the effective values as one JSON object')
    .option('--markdown', 'print the documentation as a Markdown table, without this machine’s values')
    .action(({ json, markdown }: { json?: boolean; markdown?: boolean }) => {
      process.stdout.write(
        markdown ? configurationTable() : json ? asJson(configOrExit()) : asText(configOrExit()),
      );
    });
}

function asJson(config: Config): string {
  return `${JSON.stringify(shown(config), null, 2)}\n`;
}
