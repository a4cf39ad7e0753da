import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { adminDocs, type DocsAnswer } from './referencePage.js';
import type { Dashboard } from './dashboard.js';
import { dashboardFile } from './dashboardFiles.js';
import type { MetricsExport } from './metricsExport.js';

export interface AdminOptions {
  readonly host: string;
  readonly port: number;
  /** Whether requests are taken: warm, not draining, not hung. */
  isReady(): boolean;
  readonly metrics: MetricsExport;
  readonly dashboard: Dashboard;
}

export interface AdminServer {
  readonly host: string;
  readonly port: number;
  close(): void;
}

/** Answers GET and HEAD of one path. */
type Route = (response: ServerResponse, request: IncomingMessage) => void;

/** The admin listener, apart from the public one. Rejects where it cannot listen. */
export async function listenAdmin(options: AdminOptions): Promise<AdminServer> {
  const { host, port, dashboard } = options;
  const routes = routesOf(options);
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (request.method !== 'GET' && request.method !== 'HEAD')
      answer(response, 405, { detail: 'Method Not Allowed' });
    else guarded(routes.get(path) ?? pageRoute(path), response, request);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  server.unref();
  return {
    host,
    port: (server.address() as AddressInfo).port,
    close() {
      dashboard.stop();
      server.close();
      server.closeAllConnections();
    },
  };
}

function routesOf({ isReady, metrics, dashboard }: AdminOptions): ReadonlyMap<string, Route> {
  return new Map<string, Route>([
    ['/healthz', (response) => answer(response, 200, { status: 'alive' })],
    [
      '/readyz',
      (response) =>
        isReady()
          ? answer(response, 200, { status: 'ready' })
          : answer(response, 503, { status: 'not ready' }),
    ],
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
  const detail = error instanceof Error ? error.message : String(error);
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
