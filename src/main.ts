#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { environment } from './config/environment.js';
import { platformRemedy } from './base/process/fittingNode.js';
import { keepInspectorShut, takeStopSignals } from './base/process/signals.js';
import type { ServeHooks } from './serve/service.js';

/** Runs a command; `hooks` are passed on to `serve`. Signals are taken first: loading the rest takes a while. */
export async function run(argv: readonly string[], hooks?: ServeHooks): Promise<void> {
  keepInspectorShut(environment()['NODE_OPTIONS']);
  if (argv[0] === 'serve') takeStopSignals();
  const { parse } = await import('./commands/program.js').catch(leaveOldNode);
  await parse(argv, hooks);
}

/** A Node that is too old lacks what modules import from it. */
function leaveOldNode(error: unknown): never {
  const remedy = error instanceof SyntaxError ? platformRemedy() : undefined;
  if (remedy === undefined) throw error;
  process.stderr.write(`acuity: ${remedy}\n`);
  process.exit(1);
}

function isEntryPoint(): boolean {
  const [, script] = process.argv;
  return script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url);
}

if (isEntryPoint()) await run(process.argv.slice(2));
