import { Seats } from './seats.js';
import { ANSWER_BYTES_MAX, failure, type Transport, type TransportOptions } from './transport.js';

/** The default: Node's own `fetch`, with at most `connections` requests under way. */
export function fetchTransport({ origin, connections }: TransportOptions): Transport {
  const seats = new Seats(connections);
  return {
    send: ({ path, headers, body, signal }) =>
      seats.during(signal, async () => {
        const options = { method: 'POST', headers, body, signal, redirect: 'manual' } as const;
        const answer = await fetch(origin + path, options);
        const text = await textOf(answer);
        return { status: answer.status, text, header: (name) => answer.headers.get(name) ?? undefined };
      }),
    close: () => seats.close(),
  };
}

async function textOf(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw failure('ERR_ANSWER_TOO_LONG', 'the answer is too long');
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}
