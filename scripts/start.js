/**
 * `npm start`: installs and builds what is missing, issues the first demo key if there is no key store yet,
 * and becomes the server: it runs in this process, so signals reach it; under a Node that does not fit, in one that does
 * (ownNode.js). Does not read standard input.
 */
import { fileURLToPath } from 'node:url';

// Otherwise it opens Node's inspector to everyone on this machine.
process.on('SIGUSR1', () => {});

// Import only from here on: an older Node might not even parse these modules.
const { build, failWith, install } = await import('./prepare.js');
const { underFittingNode } = await import('./ownNode.js');
const { whenNpmDies } = await import('./parents.js');

/** As after SIGTERM. */
const EXIT_ORPHANED = 143;

const orphaned = new AbortController();
whenNpmDies(() => orphaned.abort());

try {
  await underFittingNode('start', orphaned.signal);
  await install('service');
  await build('src');
  if (orphaned.signal.aborted) process.exit(EXIT_ORPHANED);
  await serve(process.argv.slice(2));
} catch (error) {
  failWith(error);
}

async function serve(args) {
  const { run } = await import('../dist/main.js');
  const { first, place } = await firstDemoKey();
  let isShown = false;
  const show = (address) => {
    if (isShown) return;
    isShown = true;
    process.stderr.write(`${linesFor({ key: first?.key, place }, address).join('\n')}\n`);
  };
  // The key exists nowhere else in clear, so it is shown even if the server never listens.
  if (first !== undefined) process.once('exit', () => show(undefined));
  // npm passes SIGINT and SIGTERM on, and a terminal sends SIGINT to all processes.
  await run(['serve', ...args], {
    onListening: show,
    stopWhen: orphaned.signal,
    areSignalsPassedOn: process.env['npm_lifecycle_event'] === 'start',
  });
}

/** With a mistaken configuration there is no key either; `serve` then prints the mistakes. */
async function firstDemoKey() {
  const { environment, readConfig } = await import('../dist/config/options.js');
  const reading = readConfig(environment());
  if (!reading.ok || !reading.config.keys.startsWith('file:')) return {};
  const { issueFirstDemoKey } = await import('../dist/commands/keys.js');
  const { placeOf } = await import('../dist/auth/location.js');
  return { first: await issueFirstDemoKey(reading.config.keys), place: placeOf(reading.config.keys) };
}

/**
 * The lines for the operator who starts the service; `key` is given only if it was just made, `place` of a key file.
 * They work in any folder.
 */
function linesFor({ key, place }, address) {
  if (address === undefined) return ['', `This key is shown once: ${key}`];
  const { host, port, socket, adminHost, adminPort, hasTry } = address;
  const at = socket === undefined ? baseUrl({ host, port }) : 'http://localhost';
  const by = socket === undefined ? '' : `--unix-socket ${quoted(socket)} `;
  const admin = baseUrl({ host: adminHost, port: adminPort });
  const pages = [...(hasTry ? [`Try it in a browser: ${admin}/try`] : []), `Live dashboard: ${admin}/`];
  const main = fileURLToPath(new URL('acuity.js', import.meta.url));
  const store = place === undefined ? '' : `ACUITY_KEYS=${quoted(place)} `;
  const issue = `Issue a key: ${store}node ${quoted(main)} keys issue --kind demo`;
  if (key === undefined) return [`acuity answers at ${socket ?? `${at}/predict`}`, ...pages, issue];
  const example = fileURLToPath(new URL('../docs/examples/request.json', import.meta.url));
  return [
    'The first demo key, shown only now. Paste this into another terminal:',
    '',
    `curl -s ${by}${at}/predict -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' -d ${quoted(`@${example}`)}`,
    '',
    ...pages,
    issue.replace('a key', 'another key'),
    '',
  ];
}

/** A listener on every address is reached through the loopback address. */
function baseUrl({ host, port }) {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** As one word of a POSIX shell. */
function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
