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
import { isOpen, settle, type Line } from './listAnswer.js';

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

/** The time limits and retries apply to each list that is sent. */
export interface PredictManyOptions {
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
  /** Longest wait for the next lines of an answer, instead of the client's. */
  readonly timeoutMs?: number;
  /** Longest time for one list with all of its attempts, instead of the client's. */
  readonly deadlineMs?: number;
  /** Attempts after the first, instead of the client's. */
  readonly retries?: number;
  /** Aborts the lists in flight, and ends the run. */
  readonly signal?: AbortSignal;
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
  send(lines: readonly Line[], signal: AbortSignal, told: () => void, givesWay: () => boolean): Promise<void>;
}

export interface ListLimits {
  lines: number;
  bytes: number;
  readonly concurrency: number;
}

const LINES_MAX = 1_000;
const LINES = 100;
const BYTES = 4 * 1024 * 1024;
const CONCURRENCY = 2;

/** @throws RangeError if a limit is not valid */
export function listLimits(options: PredictManyOptions): ListLimits {
  const { listMax: lines = LINES, listBytesMax: bytes = BYTES, concurrency = CONCURRENCY } = options;
  for (const [name, value, most] of [
    ['listMax', lines, LINES_MAX],
    ['listBytesMax', bytes, Infinity],
    ['concurrency', concurrency, Infinity],
  ] as const) {
    if (Number.isInteger(value) && value >= 1 && value <= most) continue;
    throw new RangeError(`${name} is a whole number from 1${most < Infinity ? ` to ${most}` : ' on'}`);
  }
  return { lines, bytes, concurrency };
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
    run.start();
    for (let list = await run.first(); list !== undefined; list = await run.first()) {
      for (const entry of list.entries) yield await run.outcome(list, entry);
      await run.drop(list);
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
  /** Resolves when every line is settled or nothing more can be done; never rejects. */
  sending: Promise<void>;
  /** The error that ends the run when this list is reached. */
  fault?: { readonly error: unknown };
}

class Run<Key> {
  readonly #input: Iterator<unknown> | AsyncIterator<unknown>;
  readonly #desk: ListDesk;
  readonly #limits: ListLimits;
  readonly #controller = new AbortController();
  /** Lists with outcomes not yet taken, in the order of the input. */
  readonly #lists: List<Key>[] = [];
  #last: Promise<void> = Promise.resolve();
  #index = 0;
  /** Read from the input, but too long for the list before. */
  #carried: Entry<Key> | undefined;
  #isReading = false;
  /** The input has given its last request, or thrown. */
  #isEnded = false;
  /** Nothing more is read or begun. */
  #isHalted = false;
  /** No further list will be begun. */
  #isFilled = false;
  /** The error that the input threw. */
  #fault: { readonly error: unknown } | undefined;
  /** The key's rate has refused a list: two lists at once would be refused in turn. */
  #isRated = false;
  #waiting: (() => void)[] = [];

  constructor(requests: Requests<unknown>, desk: ListDesk, limits: ListLimits) {
    this.#input =
      Symbol.asyncIterator in requests ? requests[Symbol.asyncIterator]() : requests[Symbol.iterator]();
    this.#desk = desk;
    this.#limits = limits;
  }

  start(): void {
    void this.#fill();
  }

  /** The oldest list; undefined after the last one. */
  async first(): Promise<List<Key> | undefined> {
    for (;;) {
      this.#controller.signal.throwIfAborted();
      const [list] = this.#lists;
      if (list !== undefined) return list;
      if (this.#isFilled && this.#fault !== undefined) throw this.#fault.error;
      if (this.#isFilled) return undefined;
      await this.#changed();
    }
  }

  async outcome(list: List<Key>, { index, key, line }: Entry<Key>): Promise<Outcome<Key>> {
    for (;;) {
      this.#controller.signal.throwIfAborted();
      const { settled } = line;
      if (settled instanceof Error) return { index, key, error: settled };
      if (settled !== undefined) return { index, key, prediction: settled };
      if (list.fault !== undefined) throw list.fault.error;
      await this.#changed();
    }
  }

  /** Makes room for another list. */
  async drop(list: List<Key>): Promise<void> {
    await list.sending;
    if (list.fault !== undefined) throw list.fault.error;
    this.#lists.shift();
    this.#tell();
  }

  giveUp(reason: unknown): void {
    this.#isHalted = true;
    this.#controller.abort(reason);
    this.#tell();
  }

  /** Ends the lists in flight, and the input if it has not ended. */
  async end(): Promise<void> {
    this.giveUp(undefined);
    await Promise.all(this.#lists.map(({ sending }) => sending));
    if (this.#isEnded) return;
    const ended = Promise.resolve(this.#input.return?.()).catch(() => undefined);
    if (!this.#isReading) await ended; // else it ends only when the request it was asked for has come
  }

  async #fill(): Promise<void> {
    while (!this.#isEnded && !this.#isHalted) {
      if (this.#lists.length >= this.#limits.concurrency) {
        await this.#changed();
        continue;
      }
      const entries = await this.#read();
      if (entries.length > 0 && !this.#isHalted) this.#begin(entries);
    }
    this.#isFilled = true;
    this.#tell();
  }

  #begin(entries: readonly Entry<Key>[]): void {
    const list: List<Key> = { entries, sending: Promise.resolve() };
    list.sending = this.#last = this.#send(list, this.#last);
    this.#lists.push(list);
    this.#tell();
  }

  /** As many of the next requests as one list holds. */
  async #read(): Promise<Entry<Key>[]> {
    const entries: Entry<Key>[] = [];
    for (let bytes = 0; entries.length < this.#limits.lines;) {
      const entry = this.#carried ?? (await this.#next());
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

  async #next(): Promise<Entry<Key> | undefined> {
    if (this.#isEnded || this.#isHalted) return undefined;
    this.#isReading = true;
    try {
      const { done, value } = await this.#input.next();
      if (done !== true) return this.#entry(value);
    } catch (error) {
      this.#fault = { error }; // told after the outcomes of what came before
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
      const text = this.#desk.encode(request);
      const bytes = Buffer.byteLength(text) + 1;
      return { index, key, line: { text, bytes, settled: undefined, failed: undefined } };
    } catch (error) {
      const settled = error instanceof Error ? error : new Error(String(error));
      return { index, key, line: { text: '', bytes: 0, settled, failed: undefined } };
    }
  }

  async #send(list: List<Key>, before: Promise<void>): Promise<void> {
    let isBeforeDone = false;
    void before.then(() => (isBeforeDone = true));
    const givesWay = (): boolean => {
      this.#isRated = true;
      return !isBeforeDone;
    };
    try {
      for (let part = this.#part(list); part.length > 0; part = this.#part(list)) {
        if (this.#isRated) await before;
        await this.#sendPart(part, givesWay);
      }
    } catch (error) {
      list.fault = { error };
      this.#isHalted = true;
    }
    this.#tell();
  }

  /** The first open lines, as many as fit under the limits known now. */
  #part({ entries }: List<Key>): Line[] {
    const part: Line[] = [];
    let bytes = 0;
    for (const { line } of entries) {
      if (!isOpen(line)) continue;
      bytes += line.bytes;
      if (part.length >= this.#limits.lines || (bytes > this.#limits.bytes && part.length > 0)) break;
      part.push(line);
    }
    return part;
  }

  async #sendPart(part: readonly Line[], givesWay: () => boolean): Promise<void> {
    const { signal } = this.#controller;
    try {
      await this.#desk.send(part, signal, () => this.#tell(), givesWay);
    } catch (error) {
      const open = part.filter(isOpen);
      if (!(error instanceof AcuityError) || concernsAll(error) || open.length === 0) throw error;
      if (open.length > 1 && this.#shrink(error, open)) return;
      for (const line of open) settle(line, line.failed ?? error);
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
    const found = error instanceof InvalidRequestError ? error.findings.find(isTooMany) : undefined;
    if (found === undefined) return false;
    // The sentence contains the number that fits, and may also contain the number that was sent.
    const numbers = found.msg.replace(/(?<=\d),(?=\d{3})/g, '').match(/\d+/g) ?? [];
    const fitting = numbers.map(Number).filter((number) => number >= 1 && number < sent.length);
    limits.lines = fitting.length > 0 ? Math.max(...fitting) : sent.length >> 1;
    return true;
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

function isTooMany({ loc, type }: InvalidRequestError['findings'][number]): boolean {
  return type === 'too_long' && loc.length === 1;
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
