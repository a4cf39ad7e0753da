import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { startScripted, KEY, SCORES } from '../fixtures/sharedCases.js';
import { cleanEnvironment } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { listening } from '../fixtures/until.js';

/** Another Node to try it with: from 24 on it looks for proxies in the environment, where it is told to. */
const node = process.env['PROXY_NODE'] ?? process.execPath;
const LOOKS_FROM = 24;
const version = spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout;
const major = Number(version.split('.')[0]);
const skip =
  major < LOOKS_FROM && `Node ${major} knows no proxies of the environment (PROXY_NODE names another)`;

const SAMPLE = 61.8731;

/** Keeps the first bytes of each connection, and refuses it. */
async function startProxy(t: Test): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      seen.push(bytes.toString());
      socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
    });
  });
  return { url: `http://127.0.0.1:${await listening(t, server)}`, seen };
}

/** One request by a client of its own, in a process that is told to look for proxies; prints what came of it. */
async function outcomeTo(url: string, proxy: string): Promise<string> {
  const code = `
    import { AcuityClient } from 'acuity/client';
    const client = new AcuityClient({ url: '${url}', apiKey: '${KEY}', retry: { retries: 0 } });
    const body = { current_session: { HR_night: [${SAMPLE}] } };
    console.log(await client.predict(body).then(() => 'scored', (error) => error.name));`;
  const names = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [name, name.toUpperCase()]);
  const env = cleanEnvironment({ NODE_USE_ENV_PROXY: '1', NO_PROXY: '', no_proxy: '' });
  for (const name of names) env[name] = proxy;
  const { stdout, stderr } = await ended(node, ['--input-type=module', '-e', code], { env });
  return stdout.trim() || stderr;
}

t.test('what travels in clear meets no proxy of the environment', { skip }, async (t) => {
  const { url: proxy, seen } = await startProxy(t);
  const { url, received } = await startScripted(t, () => ({ body: { ...SCORES, inference_time_ms: 1 } }));
  t.equal(await outcomeTo(url, proxy), 'scored');
  t.equal(await outcomeTo(url.replace('127.0.0.1', 'localhost'), proxy), 'scored');
  t.strictSame(seen, []);
  t.equal(received.length, 2);
});

t.test('https takes the tunnel that the environment names, and shows it nothing', { skip }, async (t) => {
  const { url: proxy, seen } = await startProxy(t);
  t.equal(await outcomeTo('https://scores.invalid', proxy), 'ConnectionError');
  t.match(seen[0], /^CONNECT scores\.invalid:443 /);
  t.notMatch(seen.join(''), KEY);
});
