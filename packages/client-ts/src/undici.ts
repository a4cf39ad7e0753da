import { Pool } from 'undici';
import { Semaphore } from './semaphore.js';
import { ANSWER_BYTES_MAX, KEEP_ALIVE_MS, type Transport, type TransportOptions } from './transport.js';

/**
 * Connections of the package undici, which is to be installed beside this one: a pool of its own for each client,
 * with a time limit for connecting, in place of the one that all of the process's `fetch` share.
 *
 *     new AcuityClient({ url, apiKey, transport: undiciTransport })
 */
export function undiciTransport({ origin, connections, connectTimeoutMs }: TransportOptions): Transport {
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxResponseSize: ANSWER_BYTES_MAX,
    connect: { timeout: connectTimeoutMs },
    // The signal bounds the whole attempt; two more clocks would only make the error depend on which fires first.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  // The pool has a line of its own, but who gives up in it is not told before there is a connection.
  const semaphore = new Semaphore(connections);
  let closed: Promise<void> | undefined;
  return {
    send: ({ path, headers, body, signal }) =>
      semaphore.during(signal, async () => {
        const answer = await pool.request({ method: 'POST', path, headers, body, signal });
        const text = await answer.body.text();
        return { status: answer.statusCode, text, header: (name) => firstOf(answer.headers[name]) };
      }),
    close: () => (closed ??= semaphore.close().then(() => pool.close())),
  };
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
