import { OperatorError } from '../base/errors.js';
import type { Histories, Person, RowOfPerson } from './histories.js';
import { FINDINGS_MAX } from '../contract/problems.js';
import { afterNight } from '../reading/measurementReader.js';
import type { GivenMeasurement } from '../records/request.js';
import { sent, type RowPlace, type RowScorer } from './job.js';
import { nightOf } from './night.js';
import type { RowProblem } from './errors.js';
import type { ScoredRow } from '../scoring/scorer.js';

/**
 * What happens to a row whose night is earlier than a previous one of the same person: a bad row, the end of the run,
 * or its own place in the history.
 */
export type Late = 'bad' | 'fail' | 'place';

/** What the input says about a row, beside its session. */
export interface PersonsRow {
  readonly person: unknown;
  readonly moment: unknown;
  /** NaN as the day means the night of the row. */
  readonly given?: readonly GivenMeasurement[];
}

/** A row in its person's order. */
interface Waiting extends RowOfPerson {
  readonly place: RowPlace;
  readonly person: Person;
  /** The person's next row, which needs this one's scores. */
  next: Waiting | undefined;
}

/**
 * Scores each person's rows one by one, and different people's rows together: when a row is scored, that person's
 * next row is sent, so that the next nights of many people share batches.
 */
export class PersonOrder {
  /** The last row of each person with pending rows. */
  private readonly last = new Map<Person, Waiting>();
  private ready: Waiting[] = [];
  private isSending = false;

  constructor(
    private readonly histories: Histories,
    private readonly scorer: RowScorer,
    private readonly late: Late = 'bad',
  ) {}

  /**
   * Takes a row; copies its record.
   * @returns what is wrong with its person or night; undefined if it was taken
   * @throws OperatorError for too many people, or if a late row ends the run
   */
  take(place: RowPlace, { person, moment, given = [] }: PersonsRow): RowProblem['detail'] | undefined {
    if (typeof person !== 'string' || person === '')
      return 'the person of this row is missing, or neither text nor a number';
    const night = nightOf(moment);
    if (typeof night === 'string') return night;
    const known = this.histories.of(person);
    const problem = this.late !== 'place' && night < known.latest ? TOO_LATE : undefined;
    if (problem !== undefined) {
      if (this.late !== 'fail') return problem;
      throw new OperatorError(
        `row ${place.row} is ${problem}; --late bad puts such rows to the bad ones, and goes on`,
      );
    }
    const { constants } = this.scorer;
    if (given.length > 0 && constants === undefined) return UNMEASURABLE;
    const ofNight = given.map((one) => ({ ...one, day: Number.isNaN(one.day) ? night : one.day }));
    const after = ofNight.flatMap(({ day }, at) =>
      day > night ? [afterNight(['body', 'measurements', at, 'on'])] : [],
    );
    if (after.length > 0) return after.slice(0, FINDINGS_MAX);
    known.latest = Math.max(night, known.latest);
    const { record } = place;
    const waiting: Waiting = {
      place,
      person: known,
      night,
      record,
      given: ofNight,
      constants,
      next: undefined,
    };
    const before = this.last.get(known);
    this.last.set(known, waiting);
    place.onDone = (row) => this.done(waiting, row);
    if (before !== undefined) before.next = waiting;
    else this.send(waiting);
    return undefined;
  }

  private done(waiting: Waiting, row: ScoredRow | undefined): void {
    const { person, next, place } = waiting;
    if (row !== undefined && place.history !== undefined) this.histories.add(person, place.history, row);
    if (this.last.get(person) === waiting) this.last.delete(person);
    // Else a row that the collector has aged holds the next one, and so on: all rows stay until it collects the old.
    waiting.next = undefined;
    place.history = undefined;
    place.onDone = undefined;
    if (next !== undefined) this.send(next);
  }

  private send(waiting: Waiting): void {
    this.ready.push(waiting);
    if (this.isSending) return;
    this.isSending = true;
    // Runs after a whole batch was answered, so that the rows it unblocks go together.
    queueMicrotask(() => void this.sendAll());
  }

  private async sendAll(): Promise<void> {
    for (let index = 0; index < this.ready.length; index++) {
      const waiting = this.ready[index]!; // index < length
      const { place } = waiting;
      const request = this.histories.ready(waiting.person, waiting);
      place.tellPast(request);
      const room = sent(this.scorer, request, place);
      if (room !== undefined) await room;
    }
    this.ready = [];
    this.isSending = false;
  }
}

const UNMEASURABLE = 'the model that scores takes no measurements';
const TOO_LATE =
  'earlier than one of the same person before it, or in the state: sort the input by time, give --late place, or score all nights of the person anew without the state';
