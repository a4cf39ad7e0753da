import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import { adminDocs, type DocsAnswer } from './referencePage.js';
import { allowedHosts } from './allowedHosts.js';
import type { Dashboard } from './dashboard.js';
import { dashboardFile } from './dashboardFiles.js';
import type { MetricsExport } from './metricsExport.js';
import { PortStream } from './portStream.js';
import type { FromProbeThread, ProbeThreadData } from './probeThread.js';
import { messageOf } from '../base/errors.js';

export interface AdminOptions {
  readonly host: string;
  readonly port: number;
  /** Host names under which it may be asked, besides addresses and localhost. */
  readonly names: readonly string[];
  /** Of the event loops and of readiness: what probes are answered from. */
  readonly heartbeats: SharedArrayBuffer;
  /** How long an event loop may be silent before probes are answered 503. */
  readonly silentMs: number;
  readonly metrics: MetricsExport;
  readonly dashboard: Dashboard;
  /** The thread that answers probes has failed. */
  onCrash(error: Error): void;
}

export interface AdminServer {
  readonly host: string;
  readonly port: number;
  /** Resolves when its thread has ended. */
  close(): Promise<void>;
}

const HOST_NOT_ALLOWED = { detail: 'Host not allowed; see ACUITY_ADMIN_HOSTS' };

/** Answers GET and HEAD of one path. */
type Route = (response: ServerResponse, request: IncomingMessage) => void;

/** It keeps nothing from one probe to the next. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 4 };

/**
 * The admin listener, apart from the public one: a thread of its own holds the port and answers probes, this one
 * answers everything else. Rejects where it cannot listen.
 */
export async function listenAdmin(options: AdminOptions): Promise<AdminServer> {
  const { host, port, heartbeats, silentMs, dashboard } = options;
  const routes = routesOf(options);
  const isAllowed = allowedHosts(options.names);
  // Without a Host is answered here too; what a real socket may take is the thread's business.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (!isAllowed(request.headers.host)) answer(response, 421, HOST_NOT_ALLOWED);
    else if (request.method !== 'GET' && request.method !== 'HEAD')
      answer(response, 405, { detail: 'Method Not Allowed' });
    else guarded(routes.get(path) ?? pageRoute(path), response, request);
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
    return { host, port: await listening(thread, server, options), close: end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Serves what the thread passes on. Resolves to the port that it listens on. */
function listening(thread: Worker, server: Server, { onCrash }: AdminOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    thread.on('message', (message: FromProbeThread) => {
      if (message.kind === 'connection') server.emit('connection', new PortStream(message.port));
      else if (message.kind === 'listening') resolve(message.port);
      else reject(Object.assign(new Error(message.message), { code: message.code }));
    });
    thread.on('error', (error) => {
      reject(error);
      onCrash(error);
    });
  });
}

function routesOf({ metrics, dashboard }: AdminOptions): ReadonlyMap<string, Route> {
  return new Map<string, Route>([
    ['/metrics', (response) => answerMetrics(response, metrics)],
    ['/events', (response, request) => dashboard.watch(request, response)],
  ]);
}

/** Whatever goes wrong while an operator looks must not reach the service: as where a file of a page is missing. */
function guarded(route: Route, response: ServerResponse, request: IncomingMessage): void {
  try {
    route(response, request);
  } catch (error) {
    answerFailure(response, error);
  }
}

function answerFailure(response: ServerResponse, error: unknown): void {
  const detail = messageOf(error);
  if (response.headersSent) response.destroy();
  else answer(response, 500, { detail });
}

/** The live page and the API reference. */
function pageRoute(path: string): Route {
  return (response) => {
    const page = dashboardFile(path) ?? adminDocs(path);
    if (page === undefined) answer(response, 404, { detail: 'Not Found' });
    else answerPage(response, page);
  };
}

function answerMetrics(response: ServerResponse, metrics: MetricsExport): void {
  metrics.text().then(
    (text) => {
      response.writeHead(200, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' });
      response.end(text);
    },
    (error: unknown) => answerFailure(response, error),
  );
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
}

function answerPage(response: ServerResponse, { status, headers, body }: DocsAnswer): void {
  response.writeHead(status, headers);
  response.end(body);
}
