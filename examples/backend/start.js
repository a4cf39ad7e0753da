/**
 * `npm start`: installs and builds what is missing, then runs the backend. Where ACUITY_URL is not set it also starts
 * the scoring service of this clone, with a key that lives as long as it does, and sends the recorded payloads.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { whenNpmDies } from '../../scripts/parents.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '../..');
const env = { ...process.env };
const children = [];
let folder;

const node = (...args) => execFileSync(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 2, 2] });

let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
// npm does not always pass a signal on.
whenNpmDies(stop);

prepare();
if (env['ACUITY_URL'] === undefined) await startService();
const address = await firstLine(run(HERE, join(HERE, 'dist/main.js')), /^http:\S+/);
if (folder !== undefined) await sendRecorded(address);
process.stdout.write(`${address}people/person-1\n`);

/** Nothing that was started here outlives it. */
function stop() {
  isStopping = true;
  for (const child of children) child.kill();
}

function prepare() {
  console.error('building the service, its client and this backend …');
  node('scripts/build.js', 'src');
  node('scripts/build.js', 'client');
  if (!existsSync(join(HERE, 'node_modules/better-sqlite3'))) {
    console.error(
      'installing the database (better-sqlite3); where there is no binary for it, it is compiled: minutes',
    );
    execFileSync('npm', ['ci'], { cwd: HERE, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  }
  node('packages/build-tools/node_modules/typescript/bin/tsc', '-p', HERE);
}

async function startService() {
  folder = mkdtempSync(join(tmpdir(), 'acuity-example-'));
  env['ACUITY_KEYS'] = `file:${join(folder, 'keys.json')}`;
  env['ACUITY_LOG_LEVEL'] = 'info';
  env['ACUITY_PORT'] ??= '0';
  env['ACUITY_ADMIN_PORT'] ??= '0';
  const options = '--json --kind live --rate unlimited --daily unlimited';
  const issue = ['dist/main.js', 'keys', 'issue', ...options.split(' ')];
  const issued = execFileSync(process.execPath, issue, { cwd: ROOT, env, encoding: 'utf8' });
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

function run(cwd, ...args) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  if (isStopping) child.kill();
  child.once('exit', (code) => {
    stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    process.exitCode ??= code ?? 0;
  });
  return child;
}

/** What the pattern finds in the first line of output that has it; the rest is read and dropped. */
function firstLine(child, pattern) {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = pattern.exec(line);
      if (found !== null) resolve(found[1] ?? found[0]);
    });
    child.once('exit', (code) => (isStopping ? undefined : reject(new Error(`ended with ${code}`))));
  });
}
