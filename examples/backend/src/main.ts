import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AcuityClient, AcuityError, History, HistoryInvalidError, InvalidRequestError } from 'acuity-client';
import { pageOfPeople, pageOfPerson } from './page.js';
import { personOf, receivedAt, scoreEvent, sentenceOf, type TerraEvent } from './scoring.js';
import { openStore } from './store.js';

/*
 * The webhook and the pages. Pages show health data: put your own login in front, and listen on the loopback
 * interface.
 */

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const BODY_MAX_BYTES = 8 * 1024 * 1024;
const NIGHTS_MAX = 28;
const UNSCORED_MAX = 10;
/** Events saying that no more nights will come: the service says so. */
const OF_CONNECTION = ['connection_error', 'access_revoked', 'deauth'];
const SIGNATURE_AGE_MAX_S = 300;
const HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
};

const { env } = process;
/** If given, webhooks without Terra's signature are refused. */
const secret = env['TERRA_SIGNING_SECRET'];
const store = openStore(env['DATABASE_FILE'] ?? 'data/nights.json');
const client = AcuityClient.fromEnvironment(env);
const scoring = { store, history: new History(client, store), zone: env['TERRA_ZONE'] };

const server = createServer((request, response) => {
  answer(request)
    .catch((error: unknown) => {
      console.error(error);
      return json(500, { error: 'internal' });
    })
    .then(({ status, type, body }) => {
      response.writeHead(status, { ...HEADERS, 'Content-Type': type });
      response.end(body);
    })
    .catch(() => response.destroy());
});
server.listen(Number(env['PORT'] ?? 8090), '127.0.0.1');
await once(server, 'listening');
export const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
console.log(address);

const stop = () => {
  server.close(() => void client.close());
  server.closeIdleConnections();
};
process.once('SIGTERM', stop).once('SIGINT', stop);

async function answer(request: IncomingMessage): Promise<Answer> {
  const path = new URL(request.url ?? '/', 'http://backend').pathname;
  if (request.method === 'POST' && path === '/webhooks/terra') return webhook(request);
  if (request.method !== 'GET') return json(405, { error: 'method not allowed' });
  if (path === '/') return html(pageOfPeople(store.people()));
  const [, name] = /^\/people\/([^/]+)$/.exec(path) ?? [];
  if (name === undefined) return json(404, { error: 'not found' });
  const person = decodeURIComponent(name);
  return html(pageOfPerson(person, store.nights(person, NIGHTS_MAX), store.unscored(person, UNSCORED_MAX)));
}

/** A provider sends again everything without a 2xx: answer so only where a later try can succeed. */
async function webhook(request: IncomingMessage): Promise<Answer> {
  const body = await bodyOf(request);
  if (body === undefined) return json(413, { error: 'too large' });
  if (secret !== undefined && !isSigned(body, request.headers['terra-signature'], secret))
    return json(401, { error: 'signature' });
  let event: TerraEvent;
  try {
    event = JSON.parse(body) as TerraEvent;
  } catch {
    return json(400, { error: 'no JSON' });
  }
  if (event?.type !== 'sleep' && !OF_CONNECTION.includes(event?.type ?? ''))
    return json(200, { scored: false, why: 'not a sleep' });
  const person = personOf(event);
  if (person === undefined) return json(200, { scored: false, why: 'user: is missing' });
  try {
    await scoreEvent(event, person, scoring);
    return json(200, { scored: true, person });
  } catch (error) {
    // An invalid event stays invalid and is for a person to look at; the message names the field, not the value.
    if (error instanceof InvalidRequestError && !(error instanceof HistoryInvalidError)) {
      const why = error.findings.map(sentenceOf).join('; ');
      store.leave(person, { at: receivedAt(event), why });
      return json(200, { scored: false, why });
    }
    if (error instanceof AcuityError) return json(503, { error: error.name });
    throw error;
  }
}

/** A body that is too large is read to its end without storing it, so that the sender sees the response. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes <= BODY_MAX_BYTES) pieces.push(piece);
  }
  return bytes > BODY_MAX_BYTES ? undefined : Buffer.concat(pieces).toString('utf8');
}

/** `t=<seconds>,v1=<HMAC-SHA-256 of "<seconds>.<body>", hex>`. */
function isSigned(body: string, header: string | string[] | undefined, key: string): boolean {
  const found = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(typeof header === 'string' ? header : '');
  if (found === null) return false;
  if (Math.abs(Date.now() / 1000 - Number(found[1])) > SIGNATURE_AGE_MAX_S) return false;
  const wanted = createHmac('sha256', key).update(`${found[1]}.${body}`).digest();
  return timingSafeEqual(wanted, Buffer.from(found[2] ?? '', 'hex'));
}

function html(body: string): Answer {
  return { status: 200, type: 'text/html; charset=utf-8', body };
}

function json(status: number, value: object): Answer {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` };
}
