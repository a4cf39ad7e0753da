/** The order of rows with a past: one after the other for a person, people side by side. */
import { OperatorError } from '../../base/errors.js';
import type { Histories } from './histories.js';
import { FINDINGS_MAX } from '../../contract/problems.js';
import { afterNight } from '../../read/measurementReader.js';
import { LAYOUT } from '../../night/layout.js';
import type { QualifiedRequest } from '../../night/quality.js';
import type { GivenMeasurement } from '../../night/request.js';
import { RowPlace, sent, type Job, type RowScorer } from './job.js';
import { nightOf } from './night.js';
import type { RowProblem } from '../errors.js';
import type { ScoredRow } from '../../score/scorer.js';

/** A row whose night is earlier than its person's latest is a bad one, ends the run, or gets its place in the history. */
export type Late = 'bad' | 'fail' | 'place';

/**
 * Scores each person's rows one by one, and different people's rows together: when a row is scored, that person's
 * next row is sent, so that the next nights of many people share batches.
 */
export class PersonOrder {
  private ready: RowPlace[] = [];
  private isSending = false;

  constructor(
    private readonly histories: Histories,
    private readonly scorer: RowScorer,
    private readonly late: Late,
  ) {}

  /**
   * Takes a row; copies its record. NaN as the day of a measurement means the night of the row.
   * @returns what is wrong with its person or night; undefined if it was taken
   * @throws OperatorError for too many people, or if a late row ends the run
   */
  take(
    job: Job,
    row: number,
    { records, lengths }: QualifiedRequest,
    given: readonly GivenMeasurement[],
  ): RowProblem['detail'] | undefined {
    const { page, ofPeople: rows } = job;
    const name = page.person(row);
    if (typeof name !== 'string' || name === '')
      return 'the person of this row is missing, or neither text nor a number';
    const night = nightOf(page.moment(row));
    if (typeof night === 'string') return night;
    const known = this.histories.known(name);
    if (known === undefined && HALF_A_PAIR.test(name)) return NO_UNICODE;
    const problem =
      this.late !== 'place' && known !== undefined && night < known.latest ? TOO_LATE : undefined;
    if (problem !== undefined) {
      if (this.late !== 'fail') return problem;
      throw new OperatorError(
        `row ${page.numberOf(row)} is ${problem}; --late bad puts such rows to the bad ones, and goes on`,
      );
    }
    if (given.length > 0) {
      if (this.scorer.model.measured === undefined) return UNMEASURABLE;
      const ofNight = given.map((one) => ({ ...one, day: Number.isNaN(one.day) ? night : one.day }));
      const after = ofNight.flatMap(({ day }, at) =>
        day > night ? [afterNight(['body', 'measurements', at, 'on'])] : [],
      );
      if (after.length > 0) return after.slice(0, FINDINGS_MAX);
      rows.given.set(row, ofNight);
    }
    // Not before: a person whose rows are all refused has no place among the people.
    const person = known ?? this.histories.of(name);
    rows.records.set(records, row * LAYOUT.RECORD_LENGTH);
    rows.lengths.set(lengths, row * lengths.length);
    rows.nights[row] = night;
    rows.people[row] = person;
    person.latest = Math.max(night, person.latest);
    const { lastJob, lastRow } = person;
    person.lastJob = job;
    person.lastRow = row;
    if (lastJob === undefined) this.send(job, row);
    else {
      const before = lastJob.ofPeople;
      before.nextJobs[lastRow] = job;
      before.nextRows[lastRow] = row;
    }
    return undefined;
  }

  done({ job, index, history }: RowPlace, row: ScoredRow | undefined): void {
    const { people, nextJobs, nextRows } = job.ofPeople;
    const person = people[index]!; // it was taken
    if (row !== undefined && history !== undefined) this.histories.add(person, history, row);
    if (person.lastJob === job && person.lastRow === index) person.lastJob = undefined;
    const next = nextJobs[index];
    // Else a page that the collector has aged holds the next one, and so on: all stay until it collects the old.
    nextJobs[index] = undefined;
    if (next !== undefined) this.send(next, nextRows[index]!);
  }

  private send(job: Job, row: number): void {
    this.ready.push(new RowPlace(job, row, this));
    if (this.isSending) return;
    this.isSending = true;
    // Runs after a whole batch was answered, so that the rows it unblocks go together.
    queueMicrotask(() => void this.sendAll());
  }

  private async sendAll(): Promise<void> {
    for (let index = 0; index < this.ready.length; index++) {
      const place = this.ready[index]!; // index < length
      const request = this.histories.ready(place.job.ofPeople, place.index, this.scorer.model.measured);
      const room = sent(this.scorer, request, place);
      if (room !== undefined) await room;
    }
    this.ready = [];
    this.isSending = false;
  }
}

/** Written to a file, two such names would be one. */
const HALF_A_PAIR = /\p{Surrogate}/u;
const NO_UNICODE = 'the person of this row is no Unicode: it has half a surrogate pair';
const UNMEASURABLE = 'the model that scores takes no measurements';
const TOO_LATE =
  'earlier than one of the same person before it, or in the state: sort the input by time; with acuity score, give --late place, or score all nights of the person anew without the state';
