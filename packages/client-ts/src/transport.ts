import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { getSystemErrorMap } from 'node:util';
import type { AcuityError, Headers } from './errors.js';

/** One attempt's request; the header names are lower case. */
export interface Outgoing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** An answer without its body. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Headers;
}

export interface Incoming extends AnswerHead {
  /** Arrives piece by piece; the signal of the request ends it too. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** What an attempt sends, and how its answer is read. */
export interface Exchange<T> {
  readonly body: string;
  /** Its answer may take long, as long as it goes on. */
  readonly isList?: true;
  readonly read: (answer: Incoming) => Promise<T | AcuityError>;
}

/**
 * Carries requests, and follows no redirect: the key must not go elsewhere. `send` rejects with the error that
 * broke the connection, or after the signal.
 */
export interface Transport {
  send(request: Outgoing): Promise<Incoming>;
  /** No request is in flight any more, and none follows. */
  close(): Promise<void>;
}

/**
 * The service closes connections after 10 idle seconds, accurate to its timer's step. Ours close well before,
 * so that no request is sent on a connection that is being closed.
 */
export const KEEP_ALIVE_MS = 5_000;

/** Node's own HTTP client with a pool of connections. */
export class NodeTransport implements Transport {
  readonly #http: http.Agent;
  readonly #https: https.Agent;

  constructor(connections: number) {
    // The time limit ends idle connections only: a request that waits longer just gets an event.
    const options = { keepAlive: true, maxSockets: connections, timeout: KEEP_ALIVE_MS };
    this.#http = new http.Agent(options);
    // A proxy that Node was told to use gets a tunnel for https; by http it would read the key and the night.
    const { proxyEnv } = https.globalAgent.options as { proxyEnv?: object };
    this.#https = new https.Agent({ ...options, ...(proxyEnv && { proxyEnv }) });
  }

  async send({ url, headers, body, signal }: Outgoing): Promise<Incoming> {
    const [{ request }, agent] = url.startsWith('https:') ? [https, this.#https] : [http, this.#http];
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
      // While it waits for a connection, a request learns of the signal only once it has one.
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      request(url, { method: 'POST', headers, agent, signal }, resolve)
        .on('error', reject)
        .on('socket', listenOnce)
        .end(body);
    });
    const all = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
    return { status: answer.statusCode ?? 0, headers: Object.fromEntries(all), body: answer };
  }

  async close(): Promise<void> {
    this.#http.destroy();
    this.#https.destroy();
  }
}

/**
 * Between the end of an answer and its next use a connection has no listener of Node's own: an abort at that
 * moment would end the process. The request reports a broken connection.
 */
function listenOnce(socket: Socket): void {
  if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
}

function ignore(): void {
  // The request reports the error.
}

/**
 * An answer of the service, or one line of a list's, has a few hundred bytes, a refusal a few thousand; a
 * proxy's page has a little more.
 */
const ANSWER_LENGTH_MAX = 1 << 20;

/** @throws Error with a code if it is too long */
export async function textOf({ body }: Incoming): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of body) text = bounded(text + decoder.decode(piece, { stream: true }));
  return text + decoder.decode();
}

/**
 * The lines of an answer as they arrive, the empty ones left out; the last one may lack its end.
 * @throws Error with a code if one is too long
 */
export async function* linesOf({ body }: Incoming): AsyncGenerator<{ text: string; hasEnd: boolean }> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const piece of body) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = bounded(lines.pop() ?? '');
    for (const text of lines) if (text.trim() !== '') yield { text, hasEnd: true };
  }
  if (rest !== '') yield { text: rest, hasEnd: false };
}

const TOO_LONG = 'ERR_ANSWER_TOO_LONG';

function bounded(text: string): string {
  if (text.length <= ANSWER_LENGTH_MAX) return text;
  throw Object.assign(new Error('the answer is too long'), { code: TOO_LONG });
}

/** Whether a connection was given up because of the answer's length: it would be as long again. */
export function isTooLong(error: unknown): boolean {
  return codeOf(error) === TOO_LONG;
}

/** The system's error code; `fetch`, in a transport of the caller's own, has it in the cause. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : codeOf(error.cause);
}

/**
 * The system's words for a connection failure, undefined for another error. Never the text of an error: that may hold
 * what was sent.
 */
export function causeOf(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  if (code === 'ECONNREFUSED') return 'connection refused; is the service running there?';
  const [, words] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  return `${code === TOO_LONG ? 'the answer is too long' : (words ?? 'the connection broke')} (${code})`;
}
