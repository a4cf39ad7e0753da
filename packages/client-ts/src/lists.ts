import { LINES_MAX } from '#rules/structure.js';
import { parse, readLine, refusalOf, type Prediction } from './answer.js';
import type { PredictionRequestBody } from './contract.js';
import {
  AcuityError,
  ConnectionError,
  InvalidRequestError,
  OverloadedError,
  RateLimitedError,
  RefusedError,
  RequestTooLargeError,
  ServiceError,
  UnsentError,
} from './errors.js';
import type { PredictOptions } from './retry.js';
import { linesOf, textOf, type Exchange, type Incoming } from './transport.js';

/** The input: requests, or pairs of a key of your own and a request, as `Map` and `entries()` give them. */
export type Requests<Item> = Iterable<Item> | AsyncIterable<Item>;

type Settled =
  | { readonly prediction: Prediction; readonly error?: undefined }
  | { readonly error: AcuityError; readonly prediction?: undefined };

/** The outcome of one request: the scores, or the error that `predict` would have thrown (of one not sent, its `cause`). */
export type Outcome<Key> = {
  /** The request's index in the input, from 0. */
  readonly index: number;
  /** The key given with the request, otherwise the index. */
  readonly key: Key;
} & Settled;

/**
 * Besides, the options of `predict` for each list: `timeoutMs` is the longest wait for its next lines, and an aborted
 * `signal` ends the run.
 */
export interface PredictManyOptions extends Omit<PredictOptions, 'requestId'> {
  /**
   * Most requests in one list, 1 to 1,000; fewer are sent if the service or the key allows fewer. Default
   * 100.
   */
  readonly listMax?: number;
  /**
   * Longest list in bytes, which is the service's limit on a body; shorter ones are sent if the service
   * refuses it. Default 4 MiB.
   */
  readonly listBytesMax?: number;
}

/**
 * What a run needs from its client: `encode` throws what `predict` throws before anything is sent; `send` sends lines
 * until each is settled, or throws the AcuityError of the last attempt, or the signal's reason.
 */
interface ListDesk {
  encode(request: PredictionRequestBody): string;
  send(lines: readonly Line[]): Promise<void>;
}

/** What a list may hold, by what is known now. */
type ListLimits = Record<'lines' | 'bytes', number>;

/** @throws RangeError if a limit is not valid */
export function listLimits(options: PredictManyOptions): ListLimits {
  const { listMax = 100, listBytesMax = 4 << 20 } = options;
  for (const [name, value] of Object.entries({ listMax, listBytesMax })) {
    if (!(Number.isInteger(value) && value >= 1)) throw new RangeError(`${name} is a whole number above 0`);
  }
  if (listMax > LINES_MAX) throw new RangeError(`listMax is at most ${LINES_MAX}`);
  return { lines: listMax, bytes: listBytesMax };
}

/** One request of a list, until it has its outcome. */
export interface Line {
  readonly index: number;
  readonly key: unknown;
  /** JSON. */
  readonly text: string;
  readonly bytes: number;
  settled?: Settled;
  /** The refusal in the last attempt, if another attempt may succeed (500, 503). */
  failed?: RefusedError | undefined;
}

/** Whether it has to be sent, or sent again. */
export function isOpen({ settled }: Line): boolean {
  return settled === undefined;
}

/** One attempt's list; reading its answer settles each line as it arrives. */
export function exchangeOf(lines: readonly Line[], requestId: string): Exchange<true> {
  for (const line of lines) line.failed = undefined;
  return {
    body: lines.map(({ text }) => `${text}\n`).join(''),
    isList: true,
    read: (answer) => readList(lines, answer, requestId),
  };
}

/**
 * @returns true if no line has to be sent again
 * @throws UnexpectedAnswerError if it is no answer to this list
 */
async function readList(
  lines: readonly Line[],
  answer: Incoming,
  requestId: string,
): Promise<true | AcuityError> {
  if (answer.status !== 200) return refusalOf(answer, parse(await textOf(answer)), requestId);
  let answered = 0;
  let failed: RefusedError | undefined;
  for await (const { text, hasEnd } of linesOf(answer)) {
    const said = readLine(text, answer, requestId);
    // A last line that was cut is ignored, and its request is sent again.
    if (!hasEnd && said === undefined && text.startsWith('{')) break;
    const line = lines[answered++];
    if (line === undefined || said === undefined) throw refusalOf(answer, undefined, requestId);
    if (said instanceof OverloadedError || said instanceof ServiceError) failed = line.failed = said;
    else line.settled = said instanceof Error ? { error: said } : { prediction: said };
  }
  if (answered < lines.length) return new ConnectionError('the answer ended before its last line', requestId);
  // A 500 for a line concerns one request: unlike a 500 for a whole answer, it may be temporary.
  return failed === undefined ? true : new OverloadedError(failed);
}

/** Scores requests in lists, one after the other; yields the outcome of each, in the order of the input. */
export async function* outcomesOf<Key>(
  requests: Requests<unknown>,
  desk: ListDesk,
  limits: ListLimits,
  signal: AbortSignal | undefined,
): AsyncGenerator<Outcome<Key>, void, undefined> {
  signal?.throwIfAborted();
  for await (const lines of listsOf(requests, desk, limits)) {
    const fault = await sendAll(lines, desk, limits);
    for (const { index, key, settled } of lines) {
      if (settled === undefined) break;
      yield { index, key: key as Key, ...settled };
    }
    if (fault !== undefined) throw fault.error;
  }
}

/** The requests, as many in each list as fit; an error of the input comes after those before it. */
async function* listsOf(
  requests: Requests<unknown>,
  desk: ListDesk,
  limits: ListLimits,
): AsyncGenerator<Line[], void, undefined> {
  let list: Line[] = [];
  let bytes = 0;
  let index = 0;
  const full = (): Line[] => {
    const taken = list;
    [list, bytes] = [[], 0];
    return taken;
  };
  try {
    for await (const item of requests) {
      const line = lineOf(item, index++, desk);
      if (list.length > 0 && bytes + line.bytes > limits.bytes) yield full();
      list.push(line);
      bytes += line.bytes;
      if (list.length >= limits.lines) yield full();
    }
  } catch (error) {
    if (list.length > 0) yield full();
    throw error;
  }
  if (list.length > 0) yield full();
}

/** A request that can't be sent is settled with its error, and stops no other. */
function lineOf(item: unknown, index: number, desk: ListDesk): Line {
  const [key, request] = (Array.isArray(item) ? item : [index, item]) as [unknown, PredictionRequestBody];
  try {
    const text = desk.encode(request);
    return { index, key, text, bytes: Buffer.byteLength(text) + 1 };
  } catch (cause) {
    const error = new UnsentError(cause instanceof Error ? cause.message : String(cause), '', { cause });
    return { index, key, text: '', bytes: 0, settled: { error } };
  }
}

/** Whether every further list would meet the error too. */
function concernsAll(error: AcuityError): boolean {
  if (error instanceof RateLimitedError) return true;
  return error instanceof RefusedError && [401, 403, 404, 405, 415].includes(error.status);
}

/** Gives the error that ends the run, if there is one; the lines that are open then stay so. */
async function sendAll(
  lines: readonly Line[],
  desk: ListDesk,
  limits: ListLimits,
): Promise<{ readonly error: unknown } | undefined> {
  for (let part = partOf(lines, limits); part.length > 0; part = partOf(lines, limits)) {
    try {
      await desk.send(part);
    } catch (error) {
      const open = part.filter(isOpen);
      if (!(error instanceof AcuityError) || concernsAll(error) || open.length === 0) return { error };
      if (open.length > 1 && shrink(limits, error, open)) continue;
      for (const line of open) line.settled = { error: line.failed ?? error };
    }
  }
  return undefined;
}

/** The first open lines, as many as fit under the limits known now. */
function partOf(lines: readonly Line[], limits: ListLimits): Line[] {
  const open = lines.filter(isOpen).slice(0, limits.lines);
  let bytes = 0;
  const tooMany = open.findIndex((line, index) => (bytes += line.bytes) > limits.bytes && index > 0);
  return tooMany < 0 ? open : open.slice(0, tooMany);
}

/** Learns what fits from a list that was refused for its length; false if it was refused for another reason. */
function shrink(limits: ListLimits, error: AcuityError, sent: readonly Line[]): boolean {
  if (error instanceof RequestTooLargeError) {
    limits.bytes = Math.min(limits.bytes, Math.ceil(sent.reduce((sum, { bytes }) => sum + bytes, 0) / 2));
    return true;
  }
  const { findings = [] } = error instanceof InvalidRequestError ? error : {};
  const found = findings.find(({ loc, type }) => type === 'too_long' && loc.length === 1);
  if (found === undefined) return false;
  const fitting = Math.floor(Number(found.ctx?.['max_length']));
  limits.lines = fitting >= 1 && fitting < sent.length ? fitting : sent.length >> 1;
  return true;
}
