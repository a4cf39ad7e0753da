/**
 * Scripts of a clone under any Node from 18 on: where none of the HTTP library's binaries is for this one, the
 * script goes on under a Node that fits, from the registry's package, pinned in scripts/node and installed once.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { holding } from './lock.js';
import { fittingNode, problemOf, thisMachine } from './platform.cjs';
import { npmCli, npmNode, QUIETLY, ROOT, runNode, say, StepFailed } from './prepare.js';

/** All that the service takes. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM'];

/**
 * Resolves under a Node that fits; under another, this process ends as the script does under the one that fits.
 * @param {string} event  the npm script that this is
 * @param {AbortSignal} [stopWhen]  when npm has died
 */
export async function underFittingNode(event, stopWhen) {
  const node = fittingNode(thisMachine());
  if (node === undefined) return;
  const program = await installed(node);
  const env = {
    ...process.env,
    PATH: [dirname(program), process.env['PATH']].join(delimiter),
    npm_node_execpath: npmNode(),
    // As below npm: this process passes signals on too, and its death must be noticed.
    npm_lifecycle_event: event,
  };
  const child = spawn(program, [...process.execArgv, ...process.argv.slice(1)], { env, stdio: 'inherit' });
  const stop = () => child.kill('SIGTERM');
  if (stopWhen?.aborted) stop();
  stopWhen?.addEventListener('abort', stop);
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  await new Promise((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (signal === null) process.exit(code);
      for (const each of SIGNALS) process.removeAllListeners(each);
      process.kill(process.pid, signal);
    });
  });
}

/** The path of its program, which is installed if it is missing. @throws StepFailed */
async function installed({ name, line }) {
  const alias = `${name}-${line}`;
  const path = `node_modules/${alias}`;
  const pinned = JSON.parse(readFileSync(join(ROOT, 'scripts/node/package-lock.json'), 'utf8')).packages[
    path
  ];
  const folder = join(ROOT, `.build/node-${pinned.version}-${process.platform}-${process.arch}`);
  const program = join(folder, path, pinned.bin.node);
  if (existsSync(program)) return program;
  await holding(`${folder}.lock`, async () => {
    if (existsSync(program)) return;
    const { node } = process.versions;
    say(
      `acuity has no library for Node ${node} here: installing Node ${pinned.version} for it (once, 190 MB) …`,
    );
    const made = `${folder}.new`;
    rmSync(made, { recursive: true, force: true });
    mkdirSync(made);
    const dependencies = { [alias]: `npm:${name}@${pinned.version}` };
    const lock = { lockfileVersion: 3, packages: { '': { dependencies }, [path]: pinned } };
    writeFileSync(join(made, 'package.json'), JSON.stringify({ dependencies }));
    writeFileSync(join(made, 'package-lock.json'), JSON.stringify(lock));
    await runNode(
      made,
      [npmCli(), 'ci', '--fetch-retries=1', '--fetch-retry-mintimeout=1000', ...QUIETLY],
      npmNode(),
    ).catch((error) => {
      throw error instanceof StepFailed ? new StepFailed(problemOf(thisMachine())) : error;
    });
    renameSync(made, folder);
  });
  return program;
}
