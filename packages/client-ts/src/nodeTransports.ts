import { Agent, request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Semaphore } from './semaphore.js';
import { KEEP_ALIVE_MS, readText, type Transport, type TransportOptions } from './transport.js';

/** The default for `https:`: Node's own `fetch`. */
export function fetchTransport({ origin, connections }: TransportOptions): Transport {
  const semaphore = new Semaphore(connections);
  return {
    send: ({ path, headers, body, signal, onText }) =>
      semaphore.during(signal, async () => {
        const options = { method: 'POST', headers, body, signal, redirect: 'manual' } as const;
        const answer = await fetch(origin + path, options);
        const head = {
          status: answer.status,
          header: (name: string) => answer.headers.get(name) ?? undefined,
        };
        return readText(head, answer.body ?? [], onText);
      }),
    close: () => semaphore.close(),
  };
}

/** The default for `http:`; it ignores proxies. */
export function plainHttpTransport({ origin, connections }: TransportOptions): Transport {
  // The environment may make `fetch` use a proxy, which could read the key and the night; an agent of our own
  // ignores it. Its time limit ends idle connections only: a request that waits longer just gets an event.
  const agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: KEEP_ALIVE_MS });
  const semaphore = new Semaphore(connections);
  return {
    send: ({ path, headers, body, signal, onText }) =>
      semaphore.during(signal, async () => {
        const options = { method: 'POST', headers, agent, signal };
        const answer = await new Promise<IncomingMessage>((resolve, reject) => {
          request(origin + path, options, resolve)
            .on('error', reject)
            .on('socket', listenOnce)
            .end(body);
        });
        const head = {
          status: answer.statusCode ?? 0,
          header: (name: string) => answer.headers[name]?.toString(),
        };
        return readText(head, answer, onText);
      }),
    close: () => semaphore.close().then(() => agent.destroy()),
  };
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
