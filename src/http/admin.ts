import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { adminDocs, type DocsAnswer } from './adminDocs.js';

export interface AdminOptions {
  readonly host: string;
  readonly port: number;
  /** Whether requests are taken: warm, not draining, not hung. */
  isReady(): boolean;
}

export interface AdminServer {
  readonly host: string;
  readonly port: number;
  close(): void;
}

/** The operators' listener, apart from the public one. Rejects where it cannot listen. */
export async function listenAdmin({ host, port, isReady }: AdminOptions): Promise<AdminServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    if (request.method !== 'GET' && request.method !== 'HEAD')
      answer(response, 405, { detail: 'Method Not Allowed' });
    else if (path === '/healthz') answer(response, 200, { status: 'alive' });
    else if (path === '/readyz') {
      if (isReady()) answer(response, 200, { status: 'ready' });
      else answer(response, 503, { status: 'not ready' });
    } else {
      const page = adminDocs(path ?? '');
      if (page === undefined) answer(response, 404, { detail: 'Not Found' });
      else answerPage(response, page);
    }
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
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
}

function answerPage(response: ServerResponse, { status, headers, body }: DocsAnswer): void {
  response.writeHead(status, headers);
  response.end(body);
}
