import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { OperatorError } from '../base/operatorError.js';
import type { Histories } from './histories.js';
import { momentMs } from '#rules/moment.js';
import type { RowPlace } from './job.js';
import type { RowScorer } from './rowScorer.js';

/** A row that is earlier than one of the same person before it. */
export class UnsortedError extends OperatorError {
  override readonly name = 'UnsortedError';
}

/** A row that has its place in its person's order. */
interface Waiting {
  readonly place: RowPlace;
  readonly person: number;
  readonly moment: number;
  /** The person's next row, which needs the scores of this one. */
  next: Waiting | undefined;
}

/**
 * Scores the rows of each person one after the other, and those of different people together: when a row is scored,
 * that person's next row is sent, so that the next nights of many people share their batches.
 */
export class PersonOrder {
  /** The last row of each person with rows under way. */
  private readonly last = new Map<number, Waiting>();
  /** The latest moment that was read of each person. */
  private readonly latest = new Map<number, number>();
  private ready: Waiting[] = [];
  private isSending = false;

  constructor(
    private readonly histories: Histories,
    private readonly scorer: RowScorer,
  ) {}

  /**
   * Takes a row; its record is copied.
   * @returns what is wrong with its person or moment; undefined where it was taken
   * @throws UnsortedError, TooManyPeopleError
   */
  take(place: RowPlace, { person, moment }: { person: unknown; moment: unknown }): string | undefined {
    if (!isName(person)) return 'the person of this row is missing, or neither text nor a number';
    const at = momentOf(moment);
    if (typeof at === 'string') return at;
    const index = this.histories.indexOf(String(person));
    if (at < (this.latest.get(index) ?? this.histories.latest(index))) {
      throw new UnsortedError(
        `row ${place.row} is earlier than one of the same person before it, or in the state: sort the input by time`,
      );
    }
    this.latest.set(index, at);
    const waiting: Waiting = { place, person: index, moment: at, next: undefined };
    const before = this.last.get(index);
    this.last.set(index, waiting);
    place.onDone = (target) => this.done(waiting, target);
    if (before !== undefined) before.next = waiting;
    else this.send(waiting);
    return undefined;
  }

  private done(waiting: Waiting, target: Float64Array | undefined): void {
    const { person, moment, place, next } = waiting;
    if (target !== undefined) this.histories.add(person, moment, place.record, target);
    if (this.last.get(person) === waiting) this.last.delete(person);
    if (next !== undefined) this.send(next);
  }

  private send(waiting: Waiting): void {
    this.ready.push(waiting);
    if (this.isSending) return;
    this.isSending = true;
    // After the answers of a whole batch, so that the rows they allow go together.
    queueMicrotask(() => void this.sendAll());
  }

  private async sendAll(): Promise<void> {
    for (let index = 0; index < this.ready.length; index++) {
      const { person, moment, place } = this.ready[index]!; // index < length
      while (this.scorer.admit(this.histories.request(person, moment, place.record), place) === 'saturated') {
        await turnOfTheLoop();
      }
    }
    this.ready = [];
    this.isSending = false;
  }
}

function isName(person: unknown): person is string | number | bigint {
  return (
    (typeof person === 'string' && person !== '') || typeof person === 'number' || typeof person === 'bigint'
  );
}

/** As databases print it, after a time: `2025-01-01 07:00:00+00`. */
const OFFSET_IN_HOURS = /(?<=:\d\d(\.\d+)?)[+-]\d\d$/;

/** Milliseconds since 1970, or what is wrong with the moment. */
function momentOf(moment: unknown): number | string {
  if (typeof moment !== 'string' && typeof moment !== 'number') return 'the moment of this row is missing';
  try {
    const exact = typeof moment === 'string' ? moment.replace(OFFSET_IN_HOURS, '$&:00') : moment;
    return Math.trunc(momentMs(exact, 'the moment of this row'));
  } catch (error) {
    return error instanceof RangeError ? error.message : 'the moment of this row is not a point in time';
  }
}
