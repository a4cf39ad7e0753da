/** One attempt's request; the header names are lower case. */
export interface Outgoing {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  /**
   * For a list: receives a 200's text piece by piece as it arrives; `text` of the answer is then empty. A
   * transport that does not call it returns the whole text at the end, so a connection that breaks earlier
   * then delivers nothing.
   */
  readonly onText?: (piece: string, head: AnswerHead) => void;
}

/** An answer without its text. */
export interface AnswerHead {
  readonly status: number;
  /** The value of a header, by its lower-case name. */
  header(name: string): string | undefined;
}

export interface Incoming extends AnswerHead {
  readonly text: string;
}

/**
 * Carries requests to one server, and follows no redirect: the key must not go elsewhere. `send` rejects with
 * the error that broke the connection, or the signal's reason.
 */
export interface Transport {
  send(request: Outgoing): Promise<Incoming>;
  /** Waits for the requests in flight. */
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
 * The service closes connections after 10 idle seconds, accurate to its timer's step. Ours close well before,
 * so that no request is sent on a connection that is being closed. (Node's `fetch` closes them after 4 s.)
 */
export const KEEP_ALIVE_MS = 5_000;
/**
 * An answer of the service, or one line of a list's, has a few hundred bytes, a refusal a few thousand; a
 * proxy's page has a little more.
 */
export const ANSWER_BYTES_MAX = 1 << 20;

/** Codes of a transport that was misused or closed. */
const MISUSE: ReadonlySet<string> = new Set([
  'ERR_INVALID_ARG_TYPE',
  'UND_ERR_INVALID_ARG',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
]);

/** Whether `error` is about the connection, not about a transport that was misused or closed. */
export function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return !MISUSE.has(code);
  return error instanceof AggregateError || (error instanceof Error && error.cause instanceof AggregateError);
}

/** The system's error code; `fetch` has it in the cause. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : codeOf(error.cause);
}

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; is the service running there?',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'no route to the host',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
};

/** The cause of a connection failure. Never the text of another error: that may hold what was sent. */
export function causeOf(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) return 'the connection broke';
  const words = CAUSES[code] ?? 'the connection broke';
  return `${words} (${code})`;
}

/** An error with a code, like the system's errors. */
export function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/**
 * Reads the body of an answer: as one text, or piece by piece if `onText` is given.
 * @throws Error with a code if it is too long
 */
export async function readText(
  head: AnswerHead,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onText: Outgoing['onText'],
): Promise<Incoming> {
  const decoder = new TextDecoder();
  const take = head.status === 200 ? onText : undefined;
  let text = '';
  let bytes = 0;
  for await (const piece of body) {
    bytes += take === undefined ? piece.byteLength : 0;
    if (bytes > ANSWER_BYTES_MAX) throw tooLong();
    const decoded = decoder.decode(piece, { stream: true });
    if (take === undefined) text += decoded;
    else take(decoded, head);
  }
  return { ...head, text: text + decoder.decode() };
}

export function tooLong(): Error {
  return failure('ERR_ANSWER_TOO_LONG', 'the answer is too long');
}
