/**
 * `npm start`: builds what is missing, then runs the backend. Where ACUITY_URL is not set it also starts the scoring
 * service of this clone, with a key that lives as long as it does, and sends the recorded payloads.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { underFittingNode } from '../../scripts/ownNode.js';
import { whenNpmDies } from '../../scripts/parents.js';
import { build, failWith, install, ROOT, runToEnd, TSC } from '../../scripts/prepare.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const { env } = process;
let service;

// Ends the start; the backend in this process then takes the signals itself.
const leave = () => process.exit(1);
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, leave).once(signal, () => stopped.abort());
// npm does not always pass a signal on.
whenNpmDies(() => process.emit('SIGTERM'));

try {
  await underFittingNode('start', stopped.signal);
  await install('service');
  await build('src');
  await build('client');
  runToEnd(process.execPath, TSC, '-p', HERE);
  if (env['ACUITY_URL'] === undefined) service = await startService();
  const { address } = await import('./dist/main.js');
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, leave).once(signal, () => service?.stop());
  if (service !== undefined) await sendRecorded(address);
  process.stdout.write(`${address}people/person-1\n`);
} catch (error) {
  failWith(error);
}

/** The service of this clone with a key and a folder of its own; it ends with this process. */
async function startService() {
  const folder = mkdtempSync(join(tmpdir(), 'acuity-example-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const keys = { ...env, ACUITY_KEYS: `file:${join(folder, 'keys.json')}` };
  const options = '--json --kind live --rate unlimited --daily unlimited';
  const issue = ['dist/main.js', 'keys', 'issue', ...options.split(' ')];
  const issued = execFileSync(process.execPath, issue, {
    cwd: ROOT,
    env: keys,
    encoding: 'utf8',
    stdio: 'pipe',
  });
  env['ACUITY_API_KEY'] = JSON.parse(issued).key;
  const { startChildServer } = await import('../../dist/tune/load/childServer.js');
  const free = { ACUITY_PORT: '0', ACUITY_ADMIN_PORT: '0' };
  const args = [join(ROOT, 'dist/main.js'), 'serve'];
  const command = { name: 'service', file: process.execPath, args, env: { ...free, ...keys } };
  const started = await startChildServer(command, folder);
  void started.ended.then(() => process.emit('SIGTERM')); // without its service the backend has no scores
  env['ACUITY_URL'] = `http://127.0.0.1:${started.port}`;
  return started;
}

async function sendRecorded(address) {
  const files = ['terra.ndjson', 'mornings.ndjson'].map((name) => join(HERE, 'payloads', name));
  const events = files.flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'));
  for (const body of events) {
    const { status } = await fetch(`${address}webhooks/terra`, { method: 'POST', body });
    if (status !== 200) throw new Error(`the webhook answered ${status}`);
  }
}
