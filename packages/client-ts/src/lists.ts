import { LINES_MAX } from '#rules/structure.js';
import { parse, readLine, refusalOf, type Prediction } from './answer.js';
import type { PredictionRequestBody } from './contract.js';
import {
  AcuityError,
  ConnectionError,
  InvalidRequestError,
  OverloadedError,
  RequestTooLargeError,
  ServiceError,
  type RefusedError,
} from './errors.js';
import type { PredictOptions } from './retry.js';
import { linesOf, textOf, type Exchange, type Incoming } from './transport.js';

/** The input: requests, or pairs of a key of your own and a request, as `Map` and `entries()` give them. */
export type Requests<Item> = Iterable<Item> | AsyncIterable<Item>;

type Settled =
  | { readonly prediction: Prediction; readonly error?: undefined }
  | { readonly error: Error; readonly prediction?: undefined };

/** The outcome of one request: the scores, or the error that `predict` would have thrown. */
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
  /**
   * Most lists in flight at once, at most the client's `connections`; requests are read ahead only to fill
   * them. Default 2.
   */
  readonly concurrency?: number;
}

/** What a run needs from its client. */
interface ListDesk {
  /** @throws what `predict` throws before anything is sent */
  encode(request: PredictionRequestBody): string;
  /**
   * Sends lines until each is settled.
   * @throws AcuityError of the last attempt, or the signal's reason
   */
  send(lines: readonly Line[], signal: AbortSignal): Promise<void>;
}

interface ListLimits {
  lines: number;
  bytes: number;
  readonly concurrency: number;
}

/** @throws RangeError if a limit is not valid */
export function listLimits(options: PredictManyOptions): ListLimits {
  const { listMax = 100, listBytesMax = 4 << 20, concurrency = 2 } = options;
  for (const [name, value] of Object.entries({ listMax, listBytesMax, concurrency })) {
    if (!(Number.isInteger(value) && value >= 1)) throw new RangeError(`${name} is a whole number above 0`);
  }
  if (listMax > LINES_MAX) throw new RangeError(`listMax is at most ${LINES_MAX}`);
  return { lines: listMax, bytes: listBytesMax, concurrency };
}

/** What ends the whole run. */
interface Fault {
  readonly fault: unknown;
}

/** One request of a list, until it has its outcome. */
export class Line<Key = unknown> {
  readonly bytes: number;
  readonly settled: Promise<Settled | Fault>;
  isOpen = true;
  /** The refusal in the last attempt, if another attempt may succeed (500, 503). */
  failed: RefusedError | undefined;
  #resolve: (settled: Settled | Fault) => void = () => undefined;

  /** `text`: JSON; empty once the line is settled. */
  constructor(
    readonly index: number,
    readonly key: Key,
    public text: string,
  ) {
    this.bytes = Buffer.byteLength(text) + 1;
    this.settled = new Promise((resolve) => (this.#resolve = resolve));
  }

  settle(settled: Settled | Fault): void {
    this.text = '';
    this.isOpen = false;
    this.#resolve(settled);
  }
}

/** One attempt's list; reading its answer settles each line as it arrives. */
export function exchangeOf(lines: readonly Line[], requestId: string): Exchange<true> {
  for (const line of lines) line.failed = undefined;
  return {
    contentType: 'application/x-ndjson',
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
    else line.settle(said instanceof Error ? { error: said } : { prediction: said });
  }
  if (answered < lines.length) return new ConnectionError('the answer ended before its last line', requestId);
  // A 500 for a line concerns one request: unlike a 500 for a whole answer, it may be temporary.
  return failed === undefined ? true : new OverloadedError(failed);
}

/** Scores requests in lists; yields the outcome of each, in the order of the input. */
export async function* outcomesOf<Key>(
  requests: Requests<unknown>,
  desk: ListDesk,
  limits: ListLimits,
  given: AbortSignal | undefined,
): AsyncGenerator<Outcome<Key>, void, undefined> {
  given?.throwIfAborted();
  const controller = new AbortController();
  const { signal } = controller;
  const giveUp = (): void => controller.abort(given?.reason);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
  aborted.catch(() => undefined); // may come when nothing waits for it
  given?.addEventListener('abort', giveUp);
  const lists = listsOf<Key>(requests, desk, limits);
  let reading = 0;
  let sent: Promise<unknown> = Promise.resolve();
  /** A list has met what ends the run: no further one is read or sent. */
  let isHalted = false;
  const begin = async () => {
    if (isHalted) return undefined;
    reading++;
    const { value: lines, done } = await lists.next().finally(() => reading--);
    if (done || signal.aborted || isHalted) return undefined;
    const sending = sendAll(lines, desk, limits, signal);
    sending.catch((fault: unknown) => {
      isHalted = true;
      for (const line of lines) if (line.isOpen) line.settle({ fault });
    });
    sent = Promise.allSettled([sent, sending]);
    return { lines, sending };
  };
  const begun: ReturnType<typeof begin>[] = [];
  try {
    for (;;) {
      while (begun.length < limits.concurrency) {
        const list = begin();
        list.catch(() => undefined); // an error of the input is thrown after the outcomes before it
        begun.push(list);
      }
      const list = await Promise.race([begun.shift(), aborted]);
      if (list === undefined) return;
      for (const line of list.lines) {
        const settled = await line.settled;
        if ('fault' in settled) throw settled.fault;
        yield { index: line.index, key: line.key, ...settled };
      }
      await list.sending;
    }
  } finally {
    given?.removeEventListener('abort', giveUp);
    giveUp();
    await sent;
    const ended = lists.return().catch(() => undefined);
    if (reading === 0) await ended; // else it ends only when the request it was asked for has come
  }
}

/** The requests, as many in each list as fit; an error of the input comes after those before it. */
async function* listsOf<Key>(
  requests: Requests<unknown>,
  desk: ListDesk,
  limits: ListLimits,
): AsyncGenerator<Line<Key>[], void, undefined> {
  let list: Line<Key>[] = [];
  let bytes = 0;
  let index = 0;
  const full = (): Line<Key>[] => {
    const taken = list;
    [list, bytes] = [[], 0];
    return taken;
  };
  try {
    for await (const item of requests) {
      const line = lineOf<Key>(item, index++, desk);
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
function lineOf<Key>(item: unknown, index: number, desk: ListDesk): Line<Key> {
  const [key, request] = (Array.isArray(item) ? item : [index, item]) as [Key, PredictionRequestBody];
  try {
    return new Line(index, key, desk.encode(request));
  } catch (error) {
    const line = new Line(index, key, '');
    line.settle({ error: error instanceof Error ? error : new Error(String(error)) });
    return line;
  }
}

/** Errors that every further list would meet too. */
const CONCERNING_ALL: ReadonlySet<string> = new Set([
  'KeyMissingError',
  'KeyRejectedError',
  'WrongAddressError',
  'UnsupportedMediaTypeError',
  'RateLimitedError',
]);

/** @throws the error that ends the run; the lines that are open then stay so */
async function sendAll(
  lines: readonly Line[],
  desk: ListDesk,
  limits: ListLimits,
  signal: AbortSignal,
): Promise<void> {
  for (let part = partOf(lines, limits); part.length > 0; part = partOf(lines, limits)) {
    try {
      await desk.send(part, signal);
    } catch (error) {
      const open = part.filter(({ isOpen }) => isOpen);
      if (!(error instanceof AcuityError) || CONCERNING_ALL.has(error.name) || open.length === 0) throw error;
      if (open.length > 1 && shrink(limits, error, open)) continue;
      for (const line of open) line.settle({ error: line.failed ?? error });
    }
  }
}

/** The first open lines, as many as fit under the limits known now. */
function partOf(lines: readonly Line[], limits: ListLimits): Line[] {
  const open = lines.filter(({ isOpen }) => isOpen).slice(0, limits.lines);
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
  // The sentence contains the number that fits, and may also contain the number that was sent.
  const numbers = found.msg.replace(/(?<=\d),(?=\d{3})/g, '').match(/\d+/g) ?? [];
  const fitting = numbers.map(Number).filter((number) => number >= 1 && number < sent.length);
  limits.lines = fitting.length > 0 ? Math.max(...fitting) : sent.length >> 1;
  return true;
}
