import { LINES_MAX } from '#rules/structure.js';
import type { Prediction } from './answer.js';
import type { PredictionRequestBody } from './contract.js';
import {
  AcuityError,
  InvalidRequestError,
  KeyMissingError,
  KeyRejectedError,
  RateLimitedError,
  RequestTooLargeError,
  UnsupportedMediaTypeError,
  WrongAddressError,
} from './errors.js';
import { Line, type Settled } from './listAnswer.js';
import type { PredictOptions } from './retry.js';

/** The input: requests, or pairs of a key of your own and a request, as `Map` and `entries()` give them. */
export type Requests<Item> = Iterable<Item> | AsyncIterable<Item>;

/** The outcome of one request: the scores, or the error that `predict` would have thrown. */
export type Outcome<Key> = {
  /** The request's index in the input, from 0. */
  readonly index: number;
  /** The key given with the request, otherwise the index. */
  readonly key: Key;
} & (
  | { readonly prediction: Prediction; readonly error?: undefined }
  | { readonly error: Error; readonly prediction?: undefined }
);

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
export interface ListDesk {
  /** @throws what `predict` throws before anything is sent */
  encode(request: PredictionRequestBody): string;
  /**
   * Sends lines until each is settled, or left to a later call because `givesWay` returns true for a list
   * that the key's rate refused.
   * @throws AcuityError of the last attempt, or the signal's reason
   */
  send(lines: readonly Line[], signal: AbortSignal, givesWay: () => boolean): Promise<void>;
}

export interface ListLimits {
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

/** Scores requests in lists; yields the outcome of each, in the order of the input. */
export async function* outcomesOf<Key>(
  requests: Requests<unknown>,
  desk: ListDesk,
  limits: ListLimits,
  signal: AbortSignal | undefined,
): AsyncGenerator<Outcome<Key>, void, undefined> {
  signal?.throwIfAborted();
  const run = new Run<Key>(requests, desk, limits);
  const giveUp = (): void => run.giveUp(signal?.reason);
  signal?.addEventListener('abort', giveUp);
  try {
    for (let list = await run.next(); list !== undefined; list = await run.next()) {
      for (const { index, key, line } of list.entries) {
        const settled = await line.settled;
        if ('fault' in settled) throw settled.fault;
        yield { index, key, ...settled };
      }
      const ended = await list.sent;
      if (ended !== undefined) throw ended.fault;
    }
  } finally {
    signal?.removeEventListener('abort', giveUp);
    await run.end();
  }
}

interface Entry<Key> {
  readonly index: number;
  readonly key: Key;
  readonly line: Line;
}

interface List<Key> {
  readonly entries: readonly Entry<Key>[];
  /** Resolves when every line is settled; with the error that ends the run after them, if there is one. */
  readonly sent: Promise<Fault | undefined>;
}

type Fault = Extract<Settled, { fault: unknown }>;

class Run<Key> {
  readonly #input: Iterator<unknown> | AsyncIterator<unknown>;
  readonly #desk: ListDesk;
  readonly #limits: ListLimits;
  readonly #controller = new AbortController();
  readonly #aborted: Promise<never>;
  /** Lists that are read or sent, in the order of the input; undefined after the last. */
  readonly #lists: Promise<List<Key> | undefined>[] = [];
  #read: Promise<unknown> = Promise.resolve();
  #sent: Promise<unknown> = Promise.resolve();
  #index = 0;
  /** Read from the input, but too long for the list before. */
  #carried: Entry<Key> | undefined;
  #isReading = false;
  /** The input has given its last request, or thrown. */
  #isEnded = false;
  /** Nothing more is read or sent. */
  #isHalted = false;
  /** The error that the input threw: told after the outcomes of what came before. */
  #fault: Fault | undefined;
  /** The key's rate has refused a list: two lists at once would be refused in turn. */
  #isRated = false;

  constructor(requests: Requests<unknown>, desk: ListDesk, limits: ListLimits) {
    this.#input =
      Symbol.asyncIterator in requests ? requests[Symbol.asyncIterator]() : requests[Symbol.iterator]();
    this.#desk = desk;
    this.#limits = limits;
    const { signal } = this.#controller;
    this.#aborted = new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
    this.#aborted.catch(() => undefined); // may come when nothing waits for it
  }

  /** The next list, after the outcomes of the one before were taken; undefined after the last. */
  async next(): Promise<List<Key> | undefined> {
    while (this.#lists.length < this.#limits.concurrency) {
      const list = this.#read.then(() => this.#begin());
      this.#read = list;
      this.#lists.push(list);
    }
    const list = await Promise.race([this.#lists.shift(), this.#aborted]);
    if (list === undefined && this.#fault !== undefined) throw this.#fault.fault;
    return list;
  }

  giveUp(reason: unknown): void {
    this.#isHalted = true;
    this.#controller.abort(reason);
  }

  /** Ends the lists in flight, and the input if it has not ended. */
  async end(): Promise<void> {
    this.giveUp(undefined);
    await this.#sent;
    if (this.#isEnded) return;
    const ended = Promise.resolve(this.#input.return?.()).catch(() => undefined);
    if (!this.#isReading) await ended; // else it ends only when the request it was asked for has come
  }

  async #begin(): Promise<List<Key> | undefined> {
    const entries = await this.#take();
    if (entries.length === 0 || this.#isHalted) return undefined;
    const before = this.#sent;
    const sent = this.#send(
      entries.map(({ line }) => line),
      before,
    );
    this.#sent = Promise.all([before, sent]);
    return { entries, sent };
  }

  /** As many of the next requests as one list holds. */
  async #take(): Promise<Entry<Key>[]> {
    const entries: Entry<Key>[] = [];
    for (let bytes = 0; entries.length < this.#limits.lines;) {
      const entry = this.#carried ?? (await this.#nextEntry());
      this.#carried = undefined;
      if (entry === undefined) break;
      bytes += entry.line.bytes;
      if (bytes > this.#limits.bytes && entries.length > 0) {
        this.#carried = entry;
        break;
      }
      entries.push(entry);
    }
    return entries;
  }

  async #nextEntry(): Promise<Entry<Key> | undefined> {
    if (this.#isEnded || this.#isHalted) return undefined;
    this.#isReading = true;
    try {
      const { done, value } = await this.#input.next();
      if (done !== true) return this.#entry(value);
    } catch (fault) {
      this.#fault = { fault };
    } finally {
      this.#isReading = false;
    }
    this.#isEnded = true;
    return undefined;
  }

  /** A request that can't be sent is settled with its error, and stops no other. */
  #entry(item: unknown): Entry<Key> {
    const index = this.#index++;
    const [key, request] = (Array.isArray(item) ? item : [index, item]) as [Key, PredictionRequestBody];
    try {
      return { index, key, line: new Line(this.#desk.encode(request)) };
    } catch (error) {
      const line = new Line('');
      line.settle({ error: error instanceof Error ? error : new Error(String(error)) });
      return { index, key, line };
    }
  }

  async #send(lines: readonly Line[], before: Promise<unknown>): Promise<Fault | undefined> {
    let isBeforeDone = false;
    void before.then(() => (isBeforeDone = true));
    const givesWay = (): boolean => {
      this.#isRated = true;
      return !isBeforeDone;
    };
    try {
      for (let part = this.#part(lines); part.length > 0; part = this.#part(lines)) {
        if (this.#isRated) await before;
        await this.#sendPart(part, givesWay);
      }
      return undefined;
    } catch (fault) {
      this.#isHalted = true;
      for (const line of lines) if (line.isOpen) line.settle({ fault });
      return { fault };
    }
  }

  /** The first open lines, as many as fit under the limits known now. */
  #part(lines: readonly Line[]): Line[] {
    const part: Line[] = [];
    let bytes = 0;
    for (const line of lines) {
      if (!line.isOpen) continue;
      bytes += line.bytes;
      if (part.length >= this.#limits.lines || (bytes > this.#limits.bytes && part.length > 0)) break;
      part.push(line);
    }
    return part;
  }

  async #sendPart(part: readonly Line[], givesWay: () => boolean): Promise<void> {
    try {
      await this.#desk.send(part, this.#controller.signal, givesWay);
    } catch (error) {
      const open = part.filter(({ isOpen }) => isOpen);
      if (!(error instanceof AcuityError) || concernsAll(error) || open.length === 0) throw error;
      if (open.length > 1 && this.#shrink(error, open)) return;
      for (const line of open) line.settle({ error: line.failed ?? error });
    }
  }

  /**
   * Learns what fits from a list that was refused for its length; false if it was refused for another reason.
   */
  #shrink(error: AcuityError, sent: readonly Line[]): boolean {
    const limits = this.#limits;
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
}

/** Errors that every further list would meet too. */
function concernsAll(error: AcuityError): boolean {
  return [
    KeyMissingError,
    KeyRejectedError,
    WrongAddressError,
    UnsupportedMediaTypeError,
    RateLimitedError,
  ].some((kind) => error instanceof kind);
}
