import { connect as connect2, type ClientHttp2Session } from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { below, pick, type Random } from '#acuity/base/random.js';
import { chunked, Connection, head } from '#fixtures/connection.js';

/** A request with a chunked body, followed by trailers that look like a request, or by none. */
export interface Upload {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly trailer?: readonly [string, string];
  /** Before the trailers, or before the last chunk, too; without a pause everything comes at once. */
  readonly pauseMs?: number | undefined;
  readonly isEndLate?: boolean;
}

/** How long a sender waits for the answer to an upload. */
const WAIT_MS = 5_000;
const BODY = '{"current_session":{}}';
const PIECE_BYTES = 8_000;
/** A parser that does not know trailers takes this for a request: it drops two bytes, and the rest is a request line. */
const TRAILERS: readonly (readonly [string, string])[] = [
  ['GET', '/x HTTP/1.1'],
  ['xxGET', '/predict HTTP/1.1'],
  ['xxPOST', '/x HTTP/1.1'],
];

export interface Senders {
  readonly key: string;
  readonly bodyBytesMax: number;
}

/** The upload of an attacker who wants to shift the answers on a shared connection by one. */
export function smuggled(random: Random, { key, bodyBytesMax }: Senders, id: string): Upload {
  return {
    method: pick(random, ['POST', 'POST', 'POST', 'PUT', 'HEAD']),
    target: pick(random, ['/predict', '/predict', '/predict', '/other']),
    headers: {
      'X-Request-Id': id,
      'X-API-Key': pick(random, ['', 'no-such-key', key]),
      ...(random() < 0.1 ? { 'Content-Type': 'text/plain' } : {}),
    },
    body: pick(random, [BODY, BODY, '{', BODY.padEnd(40_000), BODY.padEnd(bodyBytesMax + 20_000)]),
    trailer: pick(random, TRAILERS),
    pauseMs: random() < 0.5 ? undefined : below(random, 4),
    isEndLate: random() < 0.5,
  };
}

/** An honest upload that is refused, and how. */
export function refusable(
  random: Random,
  { key, bodyBytesMax }: Senders,
  id: string,
): { readonly upload: Upload; readonly status: number } {
  const { status, ...special } = pick(random, [
    { status: 401, headers: {} },
    { status: 403, headers: { 'X-API-Key': 'no-such-key' } },
    { status: 415, headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' } },
    { status: 413, headers: { 'X-API-Key': key }, bytes: bodyBytesMax + 1 + below(random, 200_000) },
    { status: 404, headers: {}, target: '/other' },
  ]);
  const { bytes = BODY.length + below(random, 300_000), target = '/predict' } = special;
  return {
    status,
    upload: {
      method: 'POST',
      target,
      headers: { ...special.headers, 'X-Request-Id': id },
      body: BODY.padEnd(bytes),
    },
  };
}

/** The result of an upload: the answer's status and request id; undefined without an answer. */
export interface Told {
  readonly status: number;
  readonly id: string | undefined;
}

export type Send = (upload: Upload) => Promise<Told | undefined>;

/** Each upload on a connection of its own. */
export function over1(port: number): { readonly send: Send; close(): void } {
  const send: Send = async (upload) => {
    const connection = await Connection.open(port);
    const answer = connection.reply({ toHead: true }).catch(() => undefined);
    try {
      const [first, second] = piecesOf(upload);
      // Not awaited: a proxy that has refused an upload may leave the rest of it unread.
      void connection.write(first);
      if (second !== '') {
        await pause(upload.pauseMs);
        void connection.write(second);
      }
      const reply = await Promise.race([answer, pause(WAIT_MS, undefined)]);
      return reply && { status: reply.status, id: reply.headers.get('x-request-id') };
    } finally {
      connection.destroy();
    }
  };
  return { send, close: () => undefined };
}

function piecesOf({ method, target, headers, body, trailer, pauseMs, isEndLate }: Upload): [string, string] {
  const whole = chunked(body, PIECE_BYTES);
  const end = '0\r\n';
  const start =
    head({ method, target, headers: { ...headers, 'Transfer-Encoding': 'chunked' } }) +
    whole.slice(0, whole.lastIndexOf(`${end}\r\n`));
  const rest = trailer === undefined ? '\r\n' : `${trailer.join(': ')}\r\nHost: a\r\n\r\n`;
  if (pauseMs === undefined) return [start + end + rest, ''];
  return isEndLate ? [start, end + rest] : [start + end, rest];
}

/** All uploads over one connection; opens a new one after it has ended. */
export function over2(port: number): { readonly send: Send; close(): void } {
  let session: ClientHttp2Session | undefined;
  const opened = (): ClientHttp2Session => {
    if (session === undefined || session.closed || session.destroyed) {
      session = connect2(`http://127.0.0.1:${port}`).on('error', () => undefined);
    }
    return session;
  };
  return { send: (upload) => sendOver2(opened(), upload), close: () => session?.destroy() };
}

export function sendOver2(session: ClientHttp2Session, upload: Upload): Promise<Told | undefined> {
  const { method, target, headers, body, trailer, pauseMs, isEndLate } = upload;
  // HTTP/2 allows trailers after a body of declared length, too.
  const length = trailer !== undefined && isEndLate ? { 'content-length': String(body.length) } : {};
  const host = pauseMs === undefined ? {} : { host: 'a' };
  return new Promise((resolve) => {
    const fields = { ':method': method, ':path': target, ...length, ...headers };
    const stream = session.request(fields, { endStream: false, waitForTrailers: trailer !== undefined });
    let told: Told | undefined;
    const timer = setTimeout(() => stream.destroy(), WAIT_MS);
    stream.on('wantTrailers', () => {
      const send = (): void => {
        if (!stream.destroyed && trailer !== undefined)
          stream.sendTrailers({ [trailer[0].toLowerCase()]: trailer[1], ...host });
      };
      if (pauseMs === undefined) send();
      else setTimeout(send, pauseMs);
    });
    stream.on('response', (answer) => {
      const id = answer['x-request-id'];
      told = { status: answer[':status'] ?? 0, id: typeof id === 'string' ? id : undefined };
    });
    stream.on('error', () => undefined).resume();
    stream.once('close', () => {
      clearTimeout(timer);
      resolve(told);
    });
    stream.end(body);
  });
}
