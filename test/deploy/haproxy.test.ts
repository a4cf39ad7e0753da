import { connect as connect2 } from 'node:http2';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Connection, chunked, exchange, head, send, sendOn } from '../fixtures/connection.js';
import {
  startNginx,
  startProxy,
  startRecordingService,
  WITHOUT_HAPROXY,
  WITHOUT_NGINX,
  type Proxy,
} from '../fixtures/proxies.js';
import { sendOver2, type Upload } from '../faults/smugglers.js';
import { rawCases, sendCase, type RawCase } from '../fixtures/rawCases.js';
import { temporaryFolder, textOf } from '../fixtures/repository.js';
import { freePort, startServer, type RunningServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';

/**
 * The raw cases of docs/HTTP-EDGES.md through deploy/haproxy.cfg: each one is answered, by the service or by the proxy,
 * never by the HTTP library; nothing waits for a time-out but what the caller left unfinished; and the next request on
 * the connection is answered as itself, or the connection ends.
 */

const NEXT_ID = 'the-next-request';
const BODY = '{"current_session":{}}';
/** Cases whose caller says less than it promised: the proxy's time-out ends them. */
const UNFINISHED = /^(a body that (stops|trickles)|nothing, or part|`Expect: 100-Continue`)/;
/** The service ends the connection of such a caller without an answer, which the proxy says to it. */
const ENDED = /^trailers that look like a request/;
/** What a proxy answers where it waited in vain. */
const TIMED_OUT = [408, 502, 504];
/** In the library's own pages. */
const LIBRARY = 'uWebSockets';

const skip = WITHOUT_HAPROXY;

/** Everything that comes back, the answer to one more request included where there is one. */
async function outcomeOf({ port }: Proxy, key: string, rawCase: RawCase) {
  const connection = await Connection.open(port);
  try {
    await sendCase(connection, rawCase);
    await Promise.race([connection.receives('\r\n').catch(() => undefined), connection.closed()]);
    const headers = { 'X-API-Key': key, 'X-Request-Id': NEXT_ID, 'Content-Length': String(BODY.length) };
    await connection.write(head({ headers: { ...headers, Connection: 'close' } }) + BODY);
    const text = await connection.closed();
    return { statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)), text };
  } finally {
    connection.destroy();
  }
}

async function open(): Promise<{ server: RunningServer; proxy: Proxy }> {
  const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
  return { server, proxy: await startProxy(t, server.port) };
}
/** One service and one proxy for all tests. */
let opened: ReturnType<typeof open> | undefined;
const start = (): ReturnType<typeof open> => (opened ??= open());

t.test('the raw cases through deploy/haproxy.cfg', { skip }, async (t) => {
  const { server, proxy } = await start();
  const cases = rawCases(server.key);
  const outcomes = await Promise.all(cases.map((one) => outcomeOf(proxy, server.key, one)));
  for (const [index, { what }] of cases.entries()) {
    const { statuses, text } = outcomes[index] ?? { statuses: [], text: '' };
    const said = `${what}: ${statuses.join(', ')}`;
    t.notMatch(text, LIBRARY, said);
    if (!UNFINISHED.test(what) && !ENDED.test(what))
      for (const status of statuses) t.notOk(TIMED_OUT.includes(status), said);
    // An answer to the one more request is its own, and the last; without one the connection has ended.
    const at = text.indexOf(NEXT_ID);
    if (at !== -1) t.equal(text.slice(at).match(/HTTP\/1\.1 /), null, said);
    if (at !== -1) t.equal(statuses.at(-1), 200, said);
  }
  t.equal((await server.predict()).status, 200, 'the service serves on');
});

/** What a request with such lines is answered with: the library cuts bytes beyond ASCII off around a value. */
async function statusOf(port: number, lines: readonly string[], body: string): Promise<number> {
  const start = `POST /predict HTTP/1.1\r\nHost: test\r\nConnection: close\r\n${lines.join('\r\n')}`;
  const text = await exchange(port, `${start}\r\n\r\n${body}`);
  return Number(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
}

const LENGTH = `Content-Length: ${BODY.length}`;

for (const [name, why, key, ofChunks, startAt] of [
  ['HAProxy', skip, undefined, 400, start],
  ['nginx', WITHOUT_NGINX, 'k', 501, startDocumentedNginx],
] as const)
  t.test(`bytes beyond ASCII around a value are refused: ${name}`, { skip: why }, async (t) => {
    const { server, proxy } = await startAt(t);
    const keyed = `X-API-Key: ${key ?? ('key' in server ? server.key : '')}`;
    for (const byte of ['\u0080', '\u0085', '\u00a0', '\u00ff'])
      for (const around of [(line: string) => line + byte, (line: string) => line.replace(': ', `: ${byte}`)])
        for (const [lines, body, status] of [
          [[keyed, LENGTH], BODY, 200],
          [[around(keyed), LENGTH], BODY, 403],
          [[keyed, around(LENGTH)], BODY, 400],
          [[keyed, around('Transfer-Encoding: chunked')], chunked(BODY, 10), ofChunks],
        ] as const)
          t.equal(await statusOf(proxy.port, lines, body), status, JSON.stringify(lines));
  });

t.test(
  'answers and refusals of the service come through it with the caller’s id; long bodies too',
  { skip },
  async (t) => {
    const { server, proxy } = await start();
    const headers = { 'X-API-Key': server.key, 'X-Request-Id': 'mine' };
    const connection = await Connection.open(proxy.port, t);
    for (const [status, body] of [
      [200, BODY],
      [200, BODY.padEnd(3_000_000)],
      [400, '{'],
      [422, '{}'],
    ] as const) {
      const reply = await sendOn(connection, { headers, body });
      t.strictSame([reply.status, reply.headers.get('x-request-id')], [status, 'mine']);
    }
    const long = await send(proxy.port, { headers: { ...headers, 'Content-Length': '5000000' } });
    t.equal(long.status, 413);
  },
);

t.test('a body without a length goes on a connection that serves nothing after it', { skip }, async (t) => {
  const service = await startRecordingService(t);
  const proxy = await startProxy(t, service.port);
  const connection = await Connection.open(proxy.port, t);
  const traced = { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, tracestate: 'a=b' };
  const plain = { headers: traced, body: BODY };
  await sendOn(connection, plain);
  const upload = head({ headers: { 'Transfer-Encoding': 'chunked' } }) + chunked(BODY, 10).slice(0, -2);
  await connection.write(`${upload}GET: /x HTTP/1.1\r\nHost: a\r\n\r\n`);
  t.equal((await connection.reply()).status, 200);
  await sendOn(connection, plain);
  t.equal(await statusOverHttp2(proxy, { headers: {}, body: BODY, trailer: ['get', '/x HTTP/1.1'] }), 200);
  await sendOn(connection, plain);
  for (const came of service.connections) {
    const at = came.search(/transfer-encoding: chunked/i);
    if (at !== -1) t.notMatch(came.slice(at), 'POST /predict', 'the last of its connection');
  }
  t.equal(service.connections.filter((came) => /transfer-encoding: chunked/i.test(came)).length, 2);
  t.notMatch(service.connections.join(''), /trace(parent|state)/i, 'a trace of a caller ends at the proxy');
});

t.test('HTTP/2: an upload that is refused gets its refusal', { skip }, async (t) => {
  const { server, proxy } = await start();
  const keyed = { 'X-API-Key': server.key };
  for (const length of [false, true]) {
    for (const [status, headers, bytes] of [
      [401, {}, 1_000_000],
      [403, { 'X-API-Key': 'other' }, 1_000_000],
      [415, { ...keyed, 'Content-Type': 'text/plain' }, 1_000_000],
      [413, keyed, 5_000_000],
      [200, keyed, 1_000_000],
    ] as const) {
      const declared: Record<string, string> = length ? { 'Content-Length': String(bytes) } : {};
      const sent = { headers: { ...headers, ...declared }, body: BODY.padEnd(bytes) };
      t.equal(await statusOverHttp2(proxy, sent), status, `${status}, ${bytes} bytes, ${length}`);
    }
  }
});

/** A refusal may come with the end of the upload; what counts is that it has come. */
async function statusOverHttp2(
  { tlsPort, certificate }: Proxy,
  upload: Pick<Upload, 'headers' | 'body' | 'trailer'>,
): Promise<number | undefined> {
  const session = connect2(`https://localhost:${tlsPort}`, { ca: certificate }).on('error', () => undefined);
  const told = await sendOver2(session, { method: 'POST', target: '/predict', ...upload });
  session.destroy();
  return told?.status;
}

/** The configuration of nginx in docs/OPERATIONS.md, with ports of its own and without TLS. */
async function startDocumentedNginx(t: Test) {
  const service = await startRecordingService(t);
  const port = await freePort();
  const [, text = ''] = /```nginx\n([\s\S]*?)```/.exec(textOf('docs/OPERATIONS.md')) ?? [];
  const local = text
    .replace('127.0.0.1:8080', `127.0.0.1:${service.port}`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port}`);
  const [outside = '', inside = ''] = local.split('server {');
  await startNginx(t, port, { outside, server: inside.slice(0, inside.lastIndexOf('}')) });
  return { server: service, proxy: { port } };
}

t.test(
  'nginx: a body in chunks reaches the service with its length, and without trailers',
  { skip: WITHOUT_NGINX },
  async (t) => {
    const { server: service, proxy } = await startDocumentedNginx(t);
    const connection = await Connection.open(proxy.port, t);
    for (const trailers of ['GET: /x HTTP/1.1\r\nHost: a\r\n\r\n', '\r\n']) {
      const upload = head({ headers: { 'Transfer-Encoding': 'chunked' } });
      await connection.write(upload + chunked(BODY, 10).slice(0, -2) + trailers);
      t.equal((await connection.reply()).status, 200);
    }
    const came = service.connections.join('');
    t.match(came, `Content-Length: ${BODY.length}`);
    t.notMatch(came, /transfer-encoding|GET/i);
    t.ok(came.endsWith(BODY));
  },
);

t.test('the service by a Unix socket', { skip }, async (t) => {
  const socket = join(temporaryFolder(t), 'a.sock');
  const env = { ACUITY_SOCKET: socket, ...loopsOf(1), ACUITY_LOG_LEVEL: 'fatal' };
  const server = await startServer(t, { env });
  const proxy = await startProxy(t, socket);
  const headers = { 'X-API-Key': server.key };
  t.equal((await send(proxy.port, { headers, body: BODY.padEnd(3_000_000) })).status, 200);
  const asked = Array.from({ length: 500 }, () => send(proxy.port, { headers, body: BODY }));
  for (const { status } of await Promise.all(asked)) t.equal(status, 200);
});
