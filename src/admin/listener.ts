import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import type { Dashboard } from './dashboard.js';
import { pageAt } from './pages.js';
import type { MetricsExport } from './metricsExport.js';
import { PortStream } from './portStream.js';
import type { FromProbeThread, ProbeThreadData } from './probeThread.js';
import { answer, TRY_IS_OFF, TRY_PATH, TryDesk, type TryOptions } from './tryDesk.js';
import { messageOf } from '../base/errors.js';
import { isLoopback } from '../base/loopback.js';
import { isIP } from 'node:net';

export interface AdminOptions {
  readonly host: string;
  readonly port: number;
  /** Host names that requests may name, besides addresses and localhost. */
  readonly names: readonly string[];
  /** Heartbeats of the event loops, and readiness: probes are answered from them. */
  readonly heartbeats: SharedArrayBuffer;
  /** How long an event loop may be silent before probes get 503. */
  readonly silentMs: number;
  readonly metrics: MetricsExport;
  readonly dashboard: Dashboard;
  readonly trial: TryOptions;
  /** Called when the thread that answers probes has failed. */
  onCrash(error: Error): void;
}

export interface AdminServer {
  readonly host: string;
  readonly port: number;
  /** Resolves when the listener's thread has ended. */
  close(): Promise<void>;
}

const HOST_NOT_ALLOWED = { detail: 'Host not allowed; see ACUITY_ADMIN_HOSTS' };

/** The thread keeps nothing from one probe to the next. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 4 };

/**
 * Opens the admin listener, separate from the public one. A thread of its own holds the port and answers
 * probes; this thread answers everything else. Rejects if it cannot listen.
 */
export async function listenAdmin(options: AdminOptions): Promise<AdminServer> {
  const { host, port, heartbeats, silentMs, dashboard } = options;
  const desk = new TryDesk(options.trial);
  const isAllowed = allowedHosts(options.names);
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (!isAllowed(request.headers.host)) return answer(response, 421, HOST_NOT_ALLOWED);
    if (request.method === 'POST' && path === TRY_PATH) return desk.answer(request, response);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answer(response, 405, { detail: 'Method Not Allowed' });
    if (path === '/metrics') return answerMetrics(response, options.metrics);
    if (path === '/events') return dashboard.watch(request, response);
    if (path === '/try/service') return desk.tellService(response);
    return answerPage(response, path, options.trial.isOn);
  };
  // Requests without a Host are answered here too; the thread decides what a real socket may send.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    // An error while an operator looks, for instance a missing file of a page, must not reach the service.
    respond(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else answer(response, 500, { detail: messageOf(error) });
    });
  });
  const data: ProbeThreadData = { host, port, heartbeats, silentMs };
  const thread = new Worker(new URL('./probeThread.js', import.meta.url), {
    workerData: data,
    resourceLimits: THREAD_LIMITS,
  });
  thread.unref();
  const end = async (): Promise<void> => {
    dashboard.stop();
    server.closeAllConnections();
    await thread.terminate();
  };
  try {
    return { host, port: await listening(thread, server, { ...options, desk }), close: end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Serves the requests that the thread passes on. Resolves to its port. */
function listening(
  thread: Worker,
  server: Server,
  { onCrash, desk }: Pick<AdminOptions, 'onCrash'> & { readonly desk: TryDesk },
): Promise<number> {
  return new Promise((resolve, reject) => {
    thread.on('message', (message: FromProbeThread) => {
      if (message.kind === 'connection') server.emit('connection', new PortStream(message.port));
      else if (message.kind === 'listening') {
        desk.isKeyless = isLoopback(message.address);
        resolve(message.port);
      } else reject(Object.assign(new Error(message.message), { code: message.code }));
    });
    thread.on('error', (error) => {
      reject(error);
      onCrash(error);
    });
  });
}

async function answerMetrics(response: ServerResponse, metrics: MetricsExport): Promise<void> {
  const text = await metrics.text();
  response.writeHead(200, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' });
  response.end(text);
}

/** Answers with the live page, the API reference, the page to try it, or a file of theirs. */
function answerPage(response: ServerResponse, path: string, hasTry: boolean): void {
  const isOfTry = path === '/try' || path.startsWith('/try/');
  const page = isOfTry && !hasTry ? undefined : pageAt(path, hasTry);
  if (page === undefined)
    return answer(response, 404, isOfTry && !hasTry ? TRY_IS_OFF : { detail: 'Not Found' });
  response.writeHead(200, page.headers);
  response.end(page.body);
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
