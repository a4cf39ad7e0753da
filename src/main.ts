#!/usr/bin/env node
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { registerAdapt } from './commands/adapt.js';
import { configOrExit, registerConfig } from './commands/config.js';
import { registerHistory } from './commands/history.js';
import { registerJudge } from './commands/judge.js';
import { registerKeys } from './commands/keys.js';
import { registerModel } from './commands/model.js';
import { registerScore } from './commands/score.js';
import { registerServe } from './commands/serve.js';
import { registerTune } from './commands/tune.js';
import type { ServeHooks } from './server/service.js';

/** The command line. `hooks` are passed on to `serve`. */
export async function run(argv: readonly string[], hooks?: ServeHooks): Promise<void> {
  const program = new Command('acuity')
    .description('Cognitive and emotional scores from heart rate, breathing and sleep, over HTTP')
    .version(version())
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
  await program.parseAsync(argv, { from: 'user' });
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
