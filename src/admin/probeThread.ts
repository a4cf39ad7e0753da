import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel, parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { BEAT_MS, Heartbeats } from '../base/heartbeats.js';
import { BlockedLoops } from './blockedLoops.js';
import { PortStream } from './portStream.js';

/**
 * Code of the thread that holds the admin port; `listener.ts` faces it. It answers probes by itself, from heartbeats:
 * it has nothing else to do, so a core is found for it where the event loops wait for theirs. Everything else goes to
 * the main thread and back.
 */

export interface ProbeThreadData {
  readonly host: string;
  readonly port: number;
  readonly heartbeats: SharedArrayBuffer;
  readonly silentMs: number;
}

/** What this thread tells the main thread. */
export type FromProbeThread =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | undefined }
  /** One request for the main thread, on a connection of its own. */
  | { readonly kind: 'connection'; readonly port: MessagePort };

/** Operators' pages, probes and scrapers: more connections are no honest use, and each takes a file descriptor. */
const CONNECTIONS_MAX = 128;
const TIMES = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // We answer requests without a Host ourselves.
  requireHostHeader: false,
} as const;

/** Of an answer of the main thread, what concerns the connection to it alone. */
const OF_THE_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding'];

function run(main: MessagePort, { host, port, heartbeats: memory, silentMs }: ProbeThreadData): void {
  const heartbeats = new Heartbeats(memory);
  const blocked = new BlockedLoops(heartbeats, silentMs);
  setInterval(() => blocked.look(), BEAT_MS);
  const say = (message: FromProbeThread, transferred: readonly MessagePort[] = []): void =>
    main.postMessage(message, transferred);

  /** What probes ask: they may come under any name, or none, and the answers tell nothing worth stealing. */
  const probe = (path: string): readonly [number, string] | undefined => {
    if (path !== '/healthz' && path !== '/readyz') return undefined;
    if (blocked.any) return [503, 'blocked'];
    if (path === '/healthz') return [200, 'alive'];
    return heartbeats.isReady ? [200, 'ready'] : [503, 'not ready'];
  };

  const passOn = (request: IncomingMessage, response: ServerResponse): void => {
    const { port1: ours, port2: theirs } = new MessageChannel();
    say({ kind: 'connection', port: theirs }, [theirs]);
    const { method, url, headers } = request;
    const passed = ask({
      createConnection: () => new PortStream(ours),
      method,
      path: url,
      headers: headers.host === undefined ? {} : { host: headers.host },
      setHost: false,
    });
    passed.on('response', (answer) => {
      const own = Object.entries(answer.headers).filter(([name]) => !OF_THE_CONNECTION.includes(name));
      response.writeHead(answer.statusCode ?? 500, Object.fromEntries(own));
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    passed.end();
  };

  const server = createServer(TIMES, (request, response) => {
    const told = isRead(request) ? probe(request.url?.split('?', 1)[0] ?? '') : undefined;
    if (told === undefined) return passOn(request, response);
    const [status, what] = told;
    response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    response.end(JSON.stringify({ status: what }));
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.on('error', ({ message, code }: NodeJS.ErrnoException) => say({ kind: 'failed', message, code }));
  server.listen(port, host, () => say({ kind: 'listening', port: (server.address() as AddressInfo).port }));
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

if (parentPort !== null) run(parentPort, workerData as ProbeThreadData);
