import { createServer, type IncomingMessage, request as ask, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { MessageChannel, type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { BEAT_MS, BlockedLoops, Heartbeats } from '../base/heartbeats.js';
import { PROBLEMS } from '../contract/problems.js';
import { PortStream } from './portStream.js';
import { answer, TRY_BODY_BYTES_MAX, TRY_PATH } from './tryDesk.js';

/**
 * Code of the thread that holds the admin port; `listener.ts` is its counterpart. It answers probes by
 * itself, from heartbeats: it has no other work, so it gets a core even when the event loops wait for theirs.
 * Everything else goes to the main thread and back.
 */

export interface ProbeThreadData {
  readonly host: string;
  readonly port: number;
  readonly heartbeats: SharedArrayBuffer;
  readonly silentMs: number;
}

/** Messages from this thread to the main thread. */
export type FromProbeThread =
  | { readonly kind: 'listening'; readonly port: number; readonly address: string }
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | undefined }
  /** One request for the main thread, on a connection of its own. */
  | { readonly kind: 'connection'; readonly port: MessagePort };

/**
 * Connections without a request: whether a probe will come on one is known only when it has come. So a new connection
 * is always taken, and the oldest of these is closed for it; a probe needs its place for milliseconds.
 */
const WAITING_MAX = 64;
/** Requests that the main thread answers: pages, viewers, scrapers. Probes take none of these places. */
const PASSED_MAX = 64;
const TIMES = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // The code below answers requests without a Host.
  requireHostHeader: false,
} as const;

/** The headers that the main thread reads. */
const PASSED = ['host', 'origin', 'content-type', 'x-api-key'];

/**
 * Headers about the connection in an answer of the main thread: they apply to the connection between the
 * threads only.
 */
const OF_THE_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding'];

function run(main: MessagePort, { host, port, heartbeats: memory, silentMs }: ProbeThreadData): void {
  const heartbeats = new Heartbeats(memory);
  const blocked = new BlockedLoops(heartbeats, { silentMs, nowMs: performance.now() });
  setInterval(() => blocked.look(performance.now()), BEAT_MS);
  const say = (message: FromProbeThread, transferred: readonly MessagePort[] = []): void =>
    main.postMessage(message, transferred);

  /** Probes may use any host name, or none; the answers contain nothing worth stealing. */
  const probe = (path: string): readonly [number, string] | undefined => {
    if (path !== '/healthz' && path !== '/readyz') return undefined;
    if (blocked.any) return [503, 'blocked'];
    if (path === '/healthz') return [200, 'alive'];
    const note = heartbeats.isStoreEmpty ? ', but the key store is empty' : '';
    return heartbeats.isReady ? [200, `ready${note}`] : [503, `not ready${note}`];
  };

  const passOn = (request: IncomingMessage, response: ServerResponse, body?: Buffer): void => {
    const { port1: ours, port2: theirs } = new MessageChannel();
    say({ kind: 'connection', port: theirs }, [theirs]);
    const { method, url, headers } = request;
    const passed = ask({
      createConnection: () => new PortStream(ours),
      method,
      path: url,
      headers: passedOf(headers),
      setHost: false,
    });
    passed.on('response', (answer) => {
      const own = Object.entries(answer.headers).filter(([name]) => !OF_THE_CONNECTION.includes(name));
      response.writeHead(answer.statusCode ?? 500, Object.fromEntries(own));
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    passed.end(body);
  };

  /** Oldest first. */
  const waiting = new Set<Socket>();
  let passed = 0;
  const keepWaiting = (socket: Socket): void => {
    waiting.delete(socket);
    if (socket.destroyed) return;
    waiting.add(socket);
    const [oldest] = waiting;
    if (waiting.size > WAITING_MAX) oldest?.destroy();
  };

  const server = createServer(TIMES, (request, response) => {
    const told = isRead(request) ? probe(request.url?.split('?', 1)[0] ?? '') : undefined;
    if (told !== undefined) return answer(response, told[0], { status: told[1] });
    const { status, detail } = PROBLEMS.overloaded;
    if (passed === PASSED_MAX) return answer(response, status, { detail });
    passed++;
    waiting.delete(request.socket);
    response.once('close', () => {
      passed--;
      keepWaiting(request.socket);
    });
    if (request.method !== 'POST' || request.url !== TRY_PATH) passOn(request, response);
    else readBody(request, response, (body) => passOn(request, response, body));
  });
  server.on('connection', (socket) => {
    keepWaiting(socket);
    socket.once('close', () => waiting.delete(socket));
  });
  server.on('error', ({ message, code }: NodeJS.ErrnoException) => say({ kind: 'failed', message, code }));
  server.listen(port, host, () => {
    const bound = server.address() as AddressInfo;
    say({ kind: 'listening', port: bound.port, address: bound.address });
  });
}

/** Reads the only body that is read; all others stay unread. */
function readBody(request: IncomingMessage, response: ServerResponse, use: (body: Buffer) => void): void {
  const pieces: Buffer[] = [];
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= TRY_BODY_BYTES_MAX) pieces.push(piece);
    // Do not wait for the rest.
    else if (!response.headersSent) {
      response.setHeader('Connection', 'close');
      answer(response, PROBLEMS.bodyTooLarge.status, { detail: PROBLEMS.bodyTooLarge.detail });
    }
  });
  request.on('end', () => {
    if (bytes <= TRY_BODY_BYTES_MAX) use(Buffer.concat(pieces));
  });
}

function passedOf(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    PASSED.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

if (parentPort !== null) run(parentPort, workerData as ProbeThreadData);
