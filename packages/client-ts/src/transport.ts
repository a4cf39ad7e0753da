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

/**
 * Carries requests to one server, and follows no redirect: the key must not go elsewhere. `send` rejects with whatever
 * broke the connection or aborted the signal.
 */
export interface Transport {
  send(request: Outgoing): Promise<Incoming>;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

export interface TransportOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly connections: number;
  readonly connectTimeoutMs: number;
}

export type OpenTransport = (options: TransportOptions) => Transport;

/**
 * The service closes connections that are idle for 10 s, give or take its timer's step: ours are closed well before,
 * so that no request meets one that is being closed. (Node's `fetch` closes them after 4 s.)
 */
export const KEEP_ALIVE_MS = 5_000;
/** An answer of the service has a few hundred bytes, a refusal a few thousand; a proxy's page a little more. */
export const ANSWER_BYTES_MAX = 1 << 20;

/** Codes of a transport that was misused or closed. */
const MISUSE: ReadonlySet<string> = new Set([
  'ERR_INVALID_ARG_TYPE',
  'UND_ERR_INVALID_ARG',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
]);

/** Whether `error` tells of the connection, rather than of a transport that was misused or closed. */
export function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return !MISUSE.has(code);
  return error instanceof AggregateError || (error instanceof Error && error.cause instanceof AggregateError);
}

/** The system's name of what happened; `fetch` has it in the cause. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : codeOf(error.cause);
}

/** An error with a code, as those of the system have one. */
export function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
