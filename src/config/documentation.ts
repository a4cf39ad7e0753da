/** The variables in words: for documents, a terminal and the dashboard. */
import { markdownTable as table } from '../base/table.js';
import type { Config } from './options.js';
import { expectation, keyword, VARIABLES, type Field, type Variable } from './variables.js';

const ENTRIES = Object.entries(VARIABLES) as [Field, Variable][];

/** The table in `docs/CONFIGURATION.md`. */
export function configurationTable(): string {
  const rows = ENTRIES.map(([, variable]) => [
    `\`${variable.env}\``,
    defaultOf(variable),
    rangeOf(variable),
    variable.doc,
  ]);
  return `${table([['variable', 'default', 'value', 'meaning'], ...rows])}\n`;
}

/** Every variable with its effective value and its documentation, for a terminal. */
export function asText(config: Config): string {
  const values = shown(config);
  return ENTRIES.map(
    ([field, variable]) =>
      `${variable.env}=${String(values[field])}\n` +
      `    ${plain(variable.doc)}.\n` +
      `    ${plain(rangeOf(variable))}; default ${plain(defaultOf(variable))}\n`,
  ).join('');
}

/**
 * Every variable with its effective value, for the dashboard; `defaults` is the configuration of this machine
 * with no variable set.
 */
export function settingsOf(config: Config, defaults: Config) {
  const values = shown(config);
  return ENTRIES.map(([field, { env, doc }]) => ({
    name: env,
    value: String(values[field]),
    meaning: plain(doc),
    isDefault: config[field] === defaults[field],
  }));
}

/**
 * The values that may be shown: the password in a key store's address is masked, and the path of a
 * collector's address, which may hold a token.
 */
export function shown(config: Config): Record<Field, unknown> {
  return {
    ...config,
    keys: withoutPassword(config.keys),
    otlpEndpoint: withoutPath(config.otlpEndpoint),
    otlpTracesEndpoint: withoutPath(config.otlpTracesEndpoint),
  };
}

/** `https://collector:4318/v1/traces?token=secret` → `https://collector:4318/***`. */
function withoutPath(address: string): string {
  return address.replace(/^(https?:\/\/[^/?#]+)[/?#].+$/, '$1/***');
}

/** `redis://user:secret@host` → `redis://user:***@host`, for any characters in the secret. */
export function withoutPassword(address: string): string {
  return address.replace(/^(rediss?:\/\/)(.*)@/, (_, scheme: string, credentials: string) => {
    const [user = ''] = credentials.split(':');
    return credentials.includes(':') ? `${scheme}${user}:***@` : `${scheme}***@`;
  });
}

function defaultOf({ schema, derived }: Variable): string {
  const value = keyword(schema, 'default');
  return derived ?? (value === '' ? 'none' : `\`${String(value)}\``);
}

function rangeOf(variable: Variable): string {
  const unit = variable.unit === undefined ? '' : `, in ${variable.unit}`;
  return expectation(variable).replace(/^an? (integer|number) from/, '$1,') + unit;
}

function plain(markdown: string): string {
  return markdown.replaceAll('`', '');
}
