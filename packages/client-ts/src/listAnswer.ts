import { parse, readLine, refusalOf, type Prediction } from './answer.js';
import {
  ConnectionError,
  OverloadedError,
  ServiceError,
  UnexpectedAnswerError,
  type AcuityError,
  type Refusal,
  type RefusedError,
} from './errors.js';
import { linesOf, textOf, type Incoming } from './transport.js';

/** How one request of a list ended; `fault` ends the whole run. */
export type Settled =
  { readonly prediction: Prediction } | { readonly error: Error } | { readonly fault: unknown };

/** One request of a list, until it has its outcome. */
export class Line {
  /** JSON; empty once the line is settled. */
  text: string;
  readonly bytes: number;
  readonly settled: Promise<Settled>;
  isOpen = true;
  /** The refusal in the last attempt, if another attempt may succeed (500, 503). */
  failed: RefusedError | undefined;
  #resolve: (settled: Settled) => void = () => undefined;

  constructor(text: string) {
    this.text = text;
    this.bytes = Buffer.byteLength(text) + 1;
    this.settled = new Promise((resolve) => (this.#resolve = resolve));
  }

  settle(settled: Settled): void {
    this.text = '';
    this.isOpen = false;
    this.#resolve(settled);
  }
}

/** One attempt's list: settles each line when its answer arrives. */
export class ListAnswer {
  readonly contentType = 'application/x-ndjson';
  readonly isList = true;
  readonly body: string;
  readonly #lines: readonly Line[];
  readonly #requestId: string;
  #answered = 0;
  #failed: RefusedError | undefined;

  constructor(lines: readonly Line[], requestId: string) {
    this.#lines = lines;
    this.#requestId = requestId;
    this.body = lines.map(({ text }) => `${text}\n`).join('');
    for (const line of lines) line.failed = undefined;
  }

  /**
   * @returns true if no line has to be sent again
   * @throws UnexpectedAnswerError if it is no answer to this list
   */
  readonly read = async (answer: Incoming): Promise<true | AcuityError> => {
    if (answer.status !== 200) return refusalOf(answer, parse(await textOf(answer)), this.#requestId);
    for await (const { text, hasEnd } of linesOf(answer)) {
      const said = readLine(text, answer, this.#requestId);
      // A last line that was cut is ignored, and its request is sent again.
      if (hasEnd || said !== undefined || !text.startsWith('{')) this.#take(said);
    }
    if (this.#answered < this.#lines.length)
      return new ConnectionError('the answer ended before its last line', this.#requestId);
    if (this.#failed === undefined) return true;
    // A 500 for a line concerns one request: unlike a 500 for a whole answer, it may be temporary.
    return new OverloadedError(this.#refusal(this.#failed));
  };

  #take(said: Prediction | RefusedError | undefined): void {
    const line = this.#lines[this.#answered++];
    if (line === undefined || said === undefined)
      throw new UnexpectedAnswerError(this.#refusal({ status: 200, detail: '' }));
    if (said instanceof OverloadedError || said instanceof ServiceError) this.#failed = line.failed = said;
    else line.settle(said instanceof Error ? { error: said } : { prediction: said });
  }

  #refusal({ status, detail }: Pick<Refusal, 'status' | 'detail'>): Refusal {
    const unknown = { findings: [], retryAfterS: undefined, limit: undefined, headers: {} };
    return { status, detail, requestId: this.#requestId, ...unknown };
  }
}
