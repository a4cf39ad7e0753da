/** A sink of scored rows that keeps each night's numbers for the verdict. */
import { Sleep } from '#rules/sleep.js';
import type { Job } from '../lake/score/job.js';
import type { PageSink } from '../lake/score/scorePages.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { normaliseSleep } from '../night/normalise.js';
import { LAYOUT } from '../night/layout.js';
import { summaryAt } from '../night/places.js';
import { Nights } from './nights.js';
import { SCORES, columnsOf, valueOf, type Outcome } from './outcomes.js';

/** Some 50 bytes each, and four times as many while an outcome is judged. */
export const NIGHTS_MAX = 5_000_000;

const NIGHT = summaryAt(0, 'HR_night');
const SECONDS_PER_MINUTE = 60;
const [MINUTES, HEART, DAY, FIRST_SCORE] = [0, 1, 2, 3];
const PERCENT = 100;

/** Keeps, of each scored night, only the values that it is judged by. */
export class NightRows implements PageSink {
  readonly nights: Nights;
  /** Nights with scores, with or without an outcome. */
  scored = 0;
  /** Rows with a later one of the same person and night, which has replaced them as in histories. */
  replaced = 0;
  /** Left-out values in each column. */
  private readonly unread: number[];
  private readonly people = new Map<string, { readonly index: number; day: number }>();
  private readonly columns: readonly string[];
  /** Columns that must hold percentiles. */
  private readonly percentiles: ReadonlySet<string>;
  private readonly scores: readonly number[];
  private readonly values: Float64Array;
  private readonly sleep = new Sleep();

  constructor(outcomes: readonly Outcome[], measured: readonly Outcome[] = []) {
    const all = [...outcomes, ...measured];
    this.columns = [...new Set(all.map(({ column }) => column))];
    this.percentiles = new Set(
      [...outcomes.filter(({ isPercentile }) => isPercentile), ...measured].map(({ column }) => column),
    );
    this.scores = [...new Set(all.map(({ score }) => SCORES.indexOf(score)))];
    this.unread = this.columns.map(() => 0);
    const names = [
      'minutes',
      'heart',
      'day',
      ...new Set(all.map((one) => columnsOf(one).score)),
      ...new Set(all.map((one) => columnsOf(one).outcome)),
    ];
    this.values = new Float64Array(names.length);
    this.nights = new Nights(names, NIGHTS_MAX);
  }

  async write(job: Job): Promise<void> {
    for (let row = 0; row < job.page.rows; row++) if (!job.problems.has(row)) this.take(job, row);
  }

  /** How many values of a column are not numbers, or not percentiles where these are required. */
  unreadOf(column: string): number {
    return this.unread[this.columns.indexOf(column)] ?? 0;
  }

  private take(job: Job, row: number): void {
    this.scored++;
    const { values } = this;
    let at = FIRST_SCORE;
    // The score without measurements: a test must not predict itself.
    const own = job.unmeasured.get(row);
    for (const score of this.scores)
      values[at++] = (own === undefined ? job.scores[row * OUTPUT_COLUMNS + score] : own[score]) ?? NaN;
    const firstOutcome = at;
    let isAny = false;
    for (const [place, column] of this.columns.entries()) {
      const value = this.valueOf(column, job.page.kept(column, row));
      if (Number.isNaN(value)) this.unread[place] = (this.unread[place] ?? 0) + 1;
      values[at++] = value ?? NaN;
      isAny ||= value !== undefined && !Number.isNaN(value);
    }
    const name = String(job.page.person(row));
    const day = job.ofPeople.nights[row] ?? NaN;
    // Copies of a row would each count as evidence, and as the past of the next.
    const isAgain = this.people.get(name)?.day === day;
    if (!isAny && !isAgain) return;
    this.writeRivals(job, row);
    values[DAY] = day;
    const person = this.personOf(name);
    if (isAgain) this.replaced++;
    person.day = day;
    this.nights.add(person.index, values, isAgain ? firstOutcome : undefined);
  }

  /** NaN for an invalid percentile, too. */
  private valueOf(column: string, json: string | undefined): number | undefined {
    const value = valueOf(json);
    if (value === undefined || !this.percentiles.has(column)) return value;
    return value >= 0 && value <= PERCENT ? value : NaN;
  }

  private writeRivals({ ofPeople: { records } }: Job, row: number): void {
    const first = row * LAYOUT.RECORD_LENGTH;
    normaliseSleep(records, first, this.sleep);
    this.values[MINUTES] = this.sleep.sleepS / SECONDS_PER_MINUTE;
    const hasHeart = (records[first + NIGHT + LAYOUT.COUNT] ?? 0) > 0;
    this.values[HEART] = hasHeart ? (records[first + NIGHT + LAYOUT.LEVEL] ?? NaN) : NaN;
  }

  private personOf(name: string): { readonly index: number; day: number } {
    const known = this.people.get(name);
    if (known !== undefined) return known;
    const person = { index: this.people.size, day: NaN };
    this.people.set(name, person);
    return person;
  }
}
