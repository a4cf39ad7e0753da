import { ANSWER_BYTES_MAX, type Transport, type TransportOptions } from './transport.js';

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

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** Lets so many run at once; the others wait in line, each until its signal is aborted. */
class Seats {
  #free: number;
  #isClosed = false;
  readonly #seats: number;
  readonly #waiting = new Set<() => void>();
  #emptied: () => void = () => undefined;

  constructor(seats: number) {
    this.#free = this.#seats = seats;
  }

  async during<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw failure('UND_ERR_CLOSED', 'the client is closed');
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** Resolves when nothing is under way. */
  close(): Promise<void> {
    this.#isClosed = true;
    if (this.#free === this.#seats) return Promise.resolve();
    return new Promise((resolve) => (this.#emptied = resolve));
  }

  /** The seat is handed on: it never counts as free in between. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.delete(sit);
        reject(signal.reason as Error);
      };
      const sit = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(sit);
    });
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      next();
      return;
    }
    this.#free++;
    if (this.#isClosed && this.#free === this.#seats) this.#emptied();
  }
}
