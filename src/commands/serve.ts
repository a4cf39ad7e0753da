/** The command `acuity serve`. */
import type { Command } from 'commander';
import { VARIABLES, type Field } from '../config/variables.js';
import type { ServeHooks } from '../serve/service.js';
import { configOrExit } from './config.js';

/** The settings that a first start is most likely to change. */
const FIRST: readonly Field[] = ['host', 'port', 'adminHost', 'adminPort', 'keys', 'workers'];

const SETTINGS = `
Settings are environment variables, as in ACUITY_PORT=9000 acuity serve:

${FIRST.map((field) => `  ${VARIABLES[field].env.padEnd(18)} ${VARIABLES[field].doc}`).join('\n')}

"acuity config" prints all of them, with their values here.`;

/** Option text with its variable: `--port` sets `ACUITY_PORT`. */
function withVariable(text: string): string {
  const [, option = ''] = /unknown option '--([a-z-]+)/.exec(text) ?? [];
  const name = `ACUITY_${option.toUpperCase().replaceAll('-', '_')}`;
  const isKnown = Object.values(VARIABLES).some(({ env }) => env === name);
  const hint = isKnown
    ? `set ${name} instead: ${name}=VALUE acuity serve`
    : 'settings are environment variables, which "acuity config" lists';
  return option === '' ? text : `${text}${hint}\n`;
}

/** `hooks` are passed to the service. */
export function registerServe(program: Command, hooks: ServeHooks | undefined): void {
  program
    .command('serve')
    .description('answer requests until SIGTERM or SIGINT')
    .addHelpText('after', SETTINGS)
    .configureOutput({ outputError: (text, write) => write(withVariable(text)) })
    .action(async () => {
      const config = configOrExit();
      const { serve } = await import('../serve/service.js');
      await serve(config, hooks);
    });
}
