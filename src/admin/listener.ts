/** The admin listener: it knows its counters and the state that it was told, and asks no other thread but for scores. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { messageOf } from '../base/errors.js';
import { BEAT_MS, BlockedLoops, Heartbeats } from '../base/heartbeats.js';
import { isLoopback } from '../base/loopback.js';
import { PROBLEMS } from '../contract/problems.js';
import type { Dashboard } from './dashboard.js';
import { answer } from './jsonAnswer.js';
import type { ProcessState } from './measurements.js';
import { METRICS_TYPE } from './metricsExport.js';
import { pageAt } from './pages.js';
import { UNSEEN_S } from './symptoms.js';
import { answerTry, TRY_PATH, type TryScore } from './tryDesk.js';

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Host names that requests may name, besides addresses and localhost. */
  readonly names: readonly string[];
  /** Heartbeats of the event loops. */
  readonly heartbeats: SharedArrayBuffer;
  /** How long an event loop may be silent before probes get 503. */
  readonly silentMs: number;
  /** As `metricsText`. */
  metrics(): string | Promise<string>;
  readonly dashboard: Dashboard;
  /** Whether the page `/try` exists. */
  readonly hasTry: boolean;
  readonly score: TryScore;
  state(): ProcessState;
}

/**
 * Connections without a request: whether a probe will come on one is known only when it has come. So a new connection
 * is always taken, and the oldest of these is closed for it; a probe needs its place for milliseconds.
 */
const WAITING_MAX = 64;
/** Requests under way: pages, viewers, scrapers. Probes take none of these places. */
const UNDER_WAY_MAX = 64;
const TIMES = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // The code below answers requests without a Host.
  requireHostHeader: false,
} as const;
const HOST_NOT_ALLOWED = { detail: 'Host not allowed; see ACUITY_ADMIN_HOSTS' };
const TRY_IS_OFF = { detail: 'Not Found; see ACUITY_TRY' };

/** Listens on this thread. Resolves to the port and what closes it; rejects if it cannot listen. */
export async function listenAdmin(
  options: ListenerOptions,
): Promise<{ readonly port: number; close(): void }> {
  const { host, port, metrics, dashboard, hasTry, score, state } = options;
  const blocked = new BlockedLoops(new Heartbeats(options.heartbeats), {
    silentMs: options.silentMs,
    nowMs: performance.now(),
  });
  const looking = setInterval(() => blocked.look(performance.now()), BEAT_MS);
  const isAllowed = allowedHosts(options.names);
  let isKeyless = false;

  /** Probes may use any host name, or none; the answers contain nothing worth stealing. */
  const probe = (path: string): readonly [status: number, said: string] | undefined => {
    if (path !== '/healthz' && path !== '/readyz') return undefined;
    if (blocked.any) return [503, 'blocked'];
    if (path === '/healthz') return [200, 'alive'];
    const { isReady, isStoreEmpty, keyStoreAgeMs } = state();
    const isUnseen = keyStoreAgeMs > 1000 * UNSEEN_S;
    const note = isStoreEmpty ? 'empty' : isUnseen ? 'out of reach' : undefined;
    const said = note === undefined ? 'ready' : `ready, but the key store is ${note}`;
    return isReady ? [200, said] : [503, `not ${said}`];
  };

  const respond = async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    if (!isAllowed(request.headers.host)) return answer(response, 421, HOST_NOT_ALLOWED);
    if (!hasTry && (path === '/try' || path.startsWith('/try/'))) return answer(response, 404, TRY_IS_OFF);
    if (request.method === 'POST' && path === TRY_PATH)
      return answerTry(request, response, { isKeyless, score });
    if (!isRead(request)) return answer(response, 405, { detail: 'Method Not Allowed' });
    if (path === '/events') return dashboard.watch(request, response);
    if (path === '/try/service')
      return answer(response, 200, { address: state().address ?? null, needsKey: !isKeyless });
    const page =
      path === '/metrics'
        ? {
            headers: { 'Content-Type': METRICS_TYPE, 'Cache-Control': 'no-store' },
            body: await metrics(),
          }
        : pageAt(path, hasTry);
    if (page === undefined) return answer(response, 404, { detail: 'Not Found' });
    response.writeHead(200, page.headers).end(page.body);
  };

  /** Oldest first. */
  const waiting = new Set<Socket>();
  let underWay = 0;
  const keepWaiting = (socket: Socket): void => {
    waiting.delete(socket);
    if (socket.destroyed) return;
    waiting.add(socket);
    const [oldest] = waiting;
    if (waiting.size > WAITING_MAX) oldest?.destroy();
  };

  const server = createServer(TIMES, (request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    const told = isRead(request) ? probe(path) : undefined;
    if (told !== undefined) return answer(response, told[0], { status: told[1] });
    const { status, detail } = PROBLEMS.overloaded;
    // Of a request that waits for another on its connection Node may never tell the end: it would keep its place.
    const waits = response.socket === null;
    if (waits || underWay === UNDER_WAY_MAX) return answer(response, status, { detail });
    underWay++;
    waiting.delete(request.socket);
    response.once('close', () => {
      underWay--;
      keepWaiting(request.socket);
    });
    // An error while an operator looks, for instance a missing file of a page, must not reach the service.
    respond(request, response, path).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else answer(response, 500, { detail: messageOf(error) });
    });
  });
  server.on('connection', (socket) => {
    keepWaiting(socket);
    socket.once('close', () => waiting.delete(socket));
  });
  const close = (): void => {
    clearInterval(looking);
    dashboard.stop();
    server.close();
    server.closeAllConnections();
  };
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    close();
    throw error;
  });
  // As of a connection that the system could not hand over, for lack of file descriptors.
  server.on('error', () => undefined);
  const bound = server.address() as AddressInfo;
  isKeyless = isLoopback(bound.address);
  return { port: bound.port, close };
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

const LOCALHOST = 'localhost';

/**
 * Whether a request may be answered under the `Host` that it names. A web page can point a name of its own to
 * this machine (DNS rebinding), and its browser then lets it read the answers. It can't do so under an
 * address or a name listed here.
 */
function allowedHosts(names: readonly string[]): (host: string | undefined) => boolean {
  const allowed = new Set([LOCALHOST, ...names.map(plainName)]);
  return (host) => {
    const name = host === undefined ? '' : plainName(withoutPort(host));
    return name !== '' && (isIP(name) !== 0 || allowed.has(name));
  };
}

/** Makes names comparable: case does not matter, nor does the final dot of the root. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** `name:80` → `name`, `[::1]:80` → `::1`. */
function withoutPort(host: string): string {
  const [, address] = /^\[([^\]]*)\](?::\d*)?$/.exec(host) ?? [];
  return address ?? host.replace(/:\d*$/, '');
}
