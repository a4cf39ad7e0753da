import type { ServerResponse } from 'node:http';

/** Sends an answer of the admin listener: `body` as JSON, or the text of it. */
export function answer(response: ServerResponse, status: number, body: object | string): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
