import { Pool } from 'undici';
import { Semaphore } from './semaphore.js';
import { KEEP_ALIVE_MS, readText, type Transport, type TransportOptions } from './transport.js';

/**
 * Connections of the package undici, which must be installed too: a separate pool for each client, with a
 * time limit for connecting, instead of the pool that all users of `fetch` in the process share.
 *
 *     new AcuityClient({ url, apiKey, transport: undiciTransport })
 */
export function undiciTransport({ origin, connections, connectTimeoutMs }: TransportOptions): Transport {
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: { timeout: connectTimeoutMs },
    // The signal bounds the whole attempt; with two more clocks the error would depend on which one fires
    // first.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  // The pool has its own queue, but a caller that gives up there learns so only once there is a connection.
  const semaphore = new Semaphore(connections);
  let closed: Promise<void> | undefined;
  return {
    send: ({ path, headers, body, signal, onText }) =>
      semaphore.during(signal, async () => {
        const answer = await pool.request({ method: 'POST', path, headers, body, signal });
        const head = {
          status: answer.statusCode,
          header: (name: string) => firstOf(answer.headers[name]),
        };
        return readText(head, answer.body, onText);
      }),
    close: () => (closed ??= semaphore.close().then(() => pool.close())),
  };
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
