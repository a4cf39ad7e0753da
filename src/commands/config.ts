import type { Command } from 'commander';
import { environment, readConfig, type Config } from '../config/options.js';
import { expectation, keyword, VARIABLES, type Field, type Variable } from '../config/variables.js';

/** EX_CONFIG of sysexits.h. */
const EXIT_MISCONFIGURED = 78;

const ENTRIES = Object.entries(VARIABLES) as [Field, Variable][];

/** The configuration of this process. Where it has mistakes: tells them, a line each, and exits with 78. */
export function configOrExit(): Config {
  const reading = readConfig(environment());
  if (reading.ok) return reading.config;
  process.stderr.write(reading.mistakes.map((mistake) => `${mistake}\n`).join(''));
  process.exit(EXIT_MISCONFIGURED);
}

export function registerConfig(program: Command): void {
  program
    .command('config')
    .description('print the effective configuration and the documentation of each variable')
    .option('--json', 'print the effective values as one JSON object')
    .option('--markdown', 'print the documentation as a Markdown table, without this machine’s values')
    .action(({ json, markdown }: { json?: boolean; markdown?: boolean }) => {
      process.stdout.write(
        markdown ? markdownTable() : json ? asJson(configOrExit()) : asText(configOrExit()),
      );
    });
}

/** The table in `docs/CONFIGURATION.md`. */
export function markdownTable(): string {
  const rows = ENTRIES.map(
    ([, variable]) =>
      `| \`${variable.env}\` | ${defaultOf(variable)} | ${rangeOf(variable)} | ${variable.doc} |`,
  );
  return ['| variable | default | value | meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function asJson(config: Config): string {
  return `${JSON.stringify(shown(config), null, 2)}\n`;
}

function asText(config: Config): string {
  const values = shown(config);
  return ENTRIES.map(
    ([field, variable]) =>
      `${variable.env}=${String(values[field])}\n` +
      `    ${plain(variable.doc)}.\n` +
      `    ${plain(rangeOf(variable))}; default ${plain(defaultOf(variable))}\n`,
  ).join('');
}

/** Every variable with its effective value, for the dashboard. */
export function settingsOf(config: Config): { name: string; value: string; meaning: string }[] {
  const values = shown(config);
  return ENTRIES.map(([field, { env, doc }]) => ({
    name: env,
    value: String(values[field]),
    meaning: plain(doc),
  }));
}

/** The values as they may be shown: a password in the address of a key store is masked. */
function shown(config: Config): Record<Field, unknown> {
  return { ...config, keys: withoutPassword(config.keys) };
}

/** `redis://user:secret@host` → `redis://user:***@host`, whatever the secret holds. */
export function withoutPassword(address: string): string {
  return address.replace(/^(rediss?:\/\/)(.*)@/, (_, scheme: string, credentials: string) => {
    const [user = ''] = credentials.split(':');
    return credentials.includes(':') ? `${scheme}${user}:***@` : `${scheme}***@`;
  });
}

function defaultOf({ schema, derived }: Variable): string {
  return derived ?? `\`${String(keyword(schema, 'default'))}\``;
}

function rangeOf(variable: Variable): string {
  const unit = variable.unit === undefined ? '' : `, in ${variable.unit}`;
  return expectation(variable).replace(/^an integer from/, 'integer,') + unit;
}

function plain(markdown: string): string {
  return markdown.replaceAll('`', '');
}
