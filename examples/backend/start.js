/**
 * `npm start`: builds what is missing, then runs the backend. Where ACUITY_URL is not set it also starts the scoring
 * service of this clone, with a key that lives as long as it does, and sends the recorded payloads.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { underFittingNode } from '../../scripts/ownNode.js';
import { whenNpmDies } from '../../scripts/parents.js';
import { build, failWith, install, ROOT, runToEnd, TSC } from '../../scripts/prepare.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const env = { ...process.env };
const children = [];
let folder;

const stopped = new AbortController();
stopped.signal.addEventListener('abort', () => children.forEach((child) => child.kill()));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopped.abort());
// npm does not always pass a signal on.
whenNpmDies(() => stopped.abort());
process.once('exit', () => folder !== undefined && rmSync(folder, { recursive: true, force: true }));

try {
  await underFittingNode('start', stopped.signal);
  await install('service');
  await build('src');
  await build('client');
  runToEnd(process.execPath, TSC, '-p', HERE);
  if (env['ACUITY_URL'] === undefined) await startService();
  const address = await firstLine(run(HERE, 'dist/main.js'), /^http:\S+/);
  if (folder !== undefined) await sendRecorded(address);
  process.stdout.write(`${address}people/person-1\n`);
} catch (error) {
  stopped.abort();
  failWith(error);
}

async function startService() {
  folder = mkdtempSync(join(tmpdir(), 'acuity-example-'));
  env['ACUITY_KEYS'] = `file:${join(folder, 'keys.json')}`;
  env['ACUITY_LOG_LEVEL'] = 'info';
  env['ACUITY_PORT'] ??= '0';
  env['ACUITY_ADMIN_PORT'] ??= '0';
  const options = '--json --kind live --rate unlimited --daily unlimited';
  const issue = ['dist/main.js', 'keys', 'issue', ...options.split(' ')];
  const issued = execFileSync(process.execPath, issue, { cwd: ROOT, env, encoding: 'utf8', stdio: 'pipe' });
  env['ACUITY_API_KEY'] = JSON.parse(issued).key;
  const port = await firstLine(run(ROOT, 'dist/main.js', 'serve'), /"port":(\d+)/);
  env['ACUITY_URL'] = `http://127.0.0.1:${port}`;
}

async function sendRecorded(address) {
  const files = ['terra.ndjson', 'mornings.ndjson'].map((name) => join(HERE, 'payloads', name));
  const events = files.flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'));
  for (const body of events) {
    const { status } = await fetch(`${address}webhooks/terra`, { method: 'POST', body });
    if (status !== 200) throw new Error(`the webhook answered ${status}`);
  }
}

/** Nothing that was started here outlives the other. */
function run(cwd, ...args) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  if (stopped.signal.aborted) child.kill();
  child.once('exit', (code) => {
    stopped.abort();
    process.exitCode ??= code ?? 0;
  });
  return child;
}

/** What the pattern finds in the first line of output that has it; the rest is read and dropped. */
function firstLine(child, pattern) {
  return new Promise((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = pattern.exec(line);
      if (found !== null) resolve(found[1] ?? found[0]);
    });
  });
}
