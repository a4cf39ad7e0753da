import { errors, Pool } from 'undici';

/** One attempt's request; the header names are lower case. */
export interface Outgoing {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface Incoming {
  readonly status: number;
  /** The value of a header, by its lower-case name. */
  header(name: string): string | undefined;
  readonly text: string;
}

/** Carries requests to one server. `send` rejects with whatever broke the connection or aborted the signal. */
export interface Transport {
  send(request: Outgoing): Promise<Incoming>;
  close(): Promise<void>;
}

export interface TransportOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly connections: number;
  readonly connectTimeoutMs: number;
}

/**
 * The service closes connections that are idle for 10 s, give or take its timer's step: we close ours well
 * before, so that no request meets a connection that is being closed.
 */
export const KEEP_ALIVE_MS = 5_000;
/** An answer of the service has a few hundred bytes, a refusal a few thousand; a proxy's page a little more. */
const ANSWER_BYTES_MAX = 1 << 20;

/** Keeps up to `connections` open and sends one request at a time on each: the service does not pipeline. */
export function openTransport({ origin, connections, connectTimeoutMs }: TransportOptions): Transport {
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
  return {
    async send({ path, headers, body, signal }) {
      const answer = await pool.request({ method: 'POST', path, headers, body, signal });
      const text = await answer.body.text();
      return {
        status: answer.statusCode,
        text,
        header(name) {
          const value = answer.headers[name];
          return Array.isArray(value) ? value[0] : value;
        },
      };
    },
    close: () => pool.close(),
  };
}

/** Whether `error` tells of the connection, rather than of a client that was misused or closed. */
export function isConnectionFailure(error: unknown): boolean {
  const isOurs =
    error instanceof errors.InvalidArgumentError ||
    error instanceof errors.ClientClosedError ||
    error instanceof errors.ClientDestroyedError;
  return !isOurs && error instanceof Error && ('code' in error || error instanceof AggregateError);
}
