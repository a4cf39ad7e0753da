#!/usr/bin/env node
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { configOrExit, registerConfig } from './commands/config.js';
import { registerKeys } from './commands/keys.js';
import type { serve } from './server/service.js';
import { registerTune } from './commands/tune.js';
import { prepareEnvironment } from './config/options.js';

type ServeHooks = Parameters<typeof serve>[1];

/** The command line. `hooks` are passed on to `serve`. */
export async function run(argv: readonly string[], hooks?: ServeHooks): Promise<void> {
  const program = new Command('acuity')
    .description('Cognitive and emotional scores from heart rate, breathing and sleep, over HTTP')
    .version(version());
  registerServe(program, hooks);
  registerScore(program);
  registerModel(program);
  registerTune(program);
  registerKeys(program, () => configOrExit().keys);
  registerConfig(program);
  await program.parseAsync(argv, { from: 'user' });
}

function registerServe(program: Command, hooks: ServeHooks | undefined): void {
  program
    .command('serve')
    .description('answer requests until told to stop (SIGTERM, SIGINT)')
    .action(async () => {
      const config = configOrExit();
      prepareEnvironment();
      // Imported only now: the native libraries read the environment when they load.
      const { serve } = await import('./server/service.js');
      await serve(config, hooks);
    });
}

function registerScore(program: Command): void {
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
      // Imported only now, as above.
      const { score } = await import('./batch/score.js');
      await score(config);
    });
}

function registerModel(program: Command): void {
  const model = program.command('model').description('networks of your own (docs/MODELS.md)');
  model
    .command('check')
    .argument('<folder>', 'model folder')
    .description('say whether a model folder will serve: names, shapes, hashes, golden scores, speed')
    .action(async (folder: string) => {
      const config = configOrExit();
      prepareEnvironment();
      // Imported only now, as above.
      const { checkModel } = await import('./commands/modelCheck.js');
      try {
        await checkModel(folder, config, (line) => process.stdout.write(`${line}\n`));
      } catch (error) {
        process.stderr.write(`acuity model: ${error instanceof Error ? error.message : String(error)}\n`);
        process.exitCode = 1;
      }
    });
}

function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}

function isEntryPoint(): boolean {
  const [, script] = process.argv;
  return script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url);
}

if (isEntryPoint()) await run(process.argv.slice(2));
