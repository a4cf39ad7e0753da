#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { environment } from './config/environment.js';
import { keepInspectorShut, takeStopSignals } from './process/signals.js';
import type { ServeHooks } from './server/service.js';

/** Runs a command; `hooks` are passed on to `serve`. Signals are taken first: loading the rest takes a while. */
export async function run(argv: readonly string[], hooks?: ServeHooks): Promise<void> {
  keepInspectorShut(environment()['NODE_OPTIONS']);
  if (argv[0] === 'serve') takeStopSignals();
  const { parse } = await import('./commands/program.js');
  await parse(argv, hooks);
}

function isEntryPoint(): boolean {
  const [, script] = process.argv;
  return script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url);
}

if (isEntryPoint()) await run(process.argv.slice(2));
