import type { Command } from 'commander';
import { prepareEnvironment } from '../config/options.js';
import type { ServeHooks } from '../server/service.js';
import { configOrExit } from './config.js';

/** `hooks` are passed on to the service. */
export function registerServe(program: Command, hooks: ServeHooks | undefined): void {
  program
    .command('serve')
    .description('answer requests until told to stop (SIGTERM, SIGINT)')
    .action(async () => {
      const config = configOrExit();
      prepareEnvironment();
      // Imported only now: the native libraries read the environment when they load.
      const { serve } = await import('../server/service.js');
      await serve(config, hooks);
    });
}
