import { Agent, request, type IncomingMessage } from 'node:http';
import { Semaphore } from './semaphore.js';
import {
  ANSWER_BYTES_MAX,
  failure,
  KEEP_ALIVE_MS,
  type Transport,
  type TransportOptions,
} from './transport.js';

/** The default for `https:`: Node's own `fetch`. */
export function fetchTransport({ origin, connections }: TransportOptions): Transport {
  const semaphore = new Semaphore(connections);
  return {
    send: ({ path, headers, body, signal }) =>
      semaphore.during(signal, async () => {
        const options = { method: 'POST', headers, body, signal, redirect: 'manual' } as const;
        const answer = await fetch(origin + path, options);
        const text = await textOf(answer.body ?? []);
        return { status: answer.status, text, header: (name) => answer.headers.get(name) ?? undefined };
      }),
    close: () => semaphore.close(),
  };
}

/** The default for `http:`: past every proxy. */
export function plainHttpTransport({ origin, connections }: TransportOptions): Transport {
  // The environment may tell `fetch` to ask a proxy, which would read the key and the night: an agent of one's own does
  // not. Its time limit ends idle connections alone: a request that waits longer is only told of it.
  const agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: KEEP_ALIVE_MS });
  const semaphore = new Semaphore(connections);
  return {
    send: ({ path, headers, body, signal }) =>
      semaphore.during(signal, async () => {
        const options = { method: 'POST', headers, agent, signal };
        const answer = await new Promise<IncomingMessage>((resolve, reject) => {
          request(origin + path, options, resolve)
            .on('error', reject)
            .end(body);
        });
        const text = await textOf(answer);
        return { status: answer.statusCode ?? 0, text, header: (name) => answer.headers[name]?.toString() };
      }),
    close: () => semaphore.close().then(() => agent.destroy()),
  };
}

async function textOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw failure('ERR_ANSWER_TOO_LONG', 'the answer is too long');
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}
