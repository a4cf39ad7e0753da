import { readLine, readRefusal, type Prediction } from './answer.js';
import {
  ConnectionError,
  OverloadedError,
  ServiceError,
  UnexpectedAnswerError,
  type AcuityError,
  type Refusal,
  type RefusedError,
} from './errors.js';
import { ANSWER_BYTES_MAX, tooLong, type AnswerHead, type Incoming } from './transport.js';

/** One request of a list, and its outcome. */
export interface Line {
  /** JSON; empty once the line is settled. */
  text: string;
  readonly bytes: number;
  settled: Prediction | Error | undefined;
  /** The refusal in the last attempt, if another attempt may succeed (500, 503). */
  failed: RefusedError | undefined;
}

export function isOpen({ settled }: Line): boolean {
  return settled === undefined;
}

export function settle(line: Line, outcome: Prediction | Error): void {
  line.text = '';
  line.settled = outcome;
}

/** One attempt's list in flight: settles each line when its answer arrives. */
export class ListAnswer {
  readonly contentType = 'application/x-ndjson';
  readonly body: string;
  readonly #lines: readonly Line[];
  readonly #requestId: string;
  readonly #told: () => void;
  /** The part of an unfinished line that has arrived. */
  #rest = '';
  #answered = 0;
  #failed: RefusedError | undefined;

  constructor(lines: readonly Line[], requestId: string, told: () => void) {
    this.#lines = lines;
    this.#requestId = requestId;
    this.#told = told;
    this.body = lines.map(({ text }) => `${text}\n`).join('');
    for (const line of lines) line.failed = undefined;
  }

  /** @throws UnexpectedAnswerError if it is no answer to this list */
  readonly onText = (piece: string, head: AnswerHead): void => {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > ANSWER_BYTES_MAX) throw tooLong();
    for (const line of lines) if (line.trim() !== '') this.#take(line, head);
    this.#told();
  };

  /** @returns true if no line has to be sent again */
  readonly read = (answer: Incoming): true | AcuityError => {
    if (answer.status !== 200) return readRefusal(answer, this.#requestId);
    if (answer.text !== '') this.onText(answer.text, answer);
    if (this.#rest !== '') this.#takeLast(answer);
    if (this.#answered < this.#lines.length) {
      return new ConnectionError('the answer ended before its last line', this.#requestId);
    }
    return this.#failed === undefined ? true : this.#toRepeat(this.#failed);
  };

  /** The last line may lack its line end. A truncated line is ignored, and its request is sent again. */
  #takeLast(head: AnswerHead): void {
    const rest = this.#rest;
    if (!rest.startsWith('{') || readLine(rest, head, this.#requestId) !== undefined) this.#take(rest, head);
    this.#told();
  }

  #take(text: string, head: AnswerHead): void {
    const line = this.#lines[this.#answered++];
    const said = readLine(text, head, this.#requestId);
    if (line === undefined || said === undefined) throw this.#unexpected();
    if (said instanceof OverloadedError || said instanceof ServiceError) this.#failed = line.failed = said;
    else settle(line, said);
  }

  /** A 500 for a line concerns one request: unlike a 500 for a whole answer, it may be temporary. */
  #toRepeat({ status, detail }: RefusedError): OverloadedError {
    return new OverloadedError({ ...this.#refusal(status), detail });
  }

  #unexpected(): UnexpectedAnswerError {
    return new UnexpectedAnswerError(this.#refusal(200));
  }

  #refusal(status: number): Refusal {
    const requestId = this.#requestId;
    return { status, detail: '', findings: [], requestId, retryAfterS: undefined, rateLimit: undefined };
  }
}
