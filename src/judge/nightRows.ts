import { Sleep } from '#rules/sleep.js';
import type { Job } from '../batch/job.js';
import type { PageSink } from '../batch/scorePages.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { normaliseSleep } from '../pipeline/normalise.js';
import { LAYOUT } from '../records/layout.js';
import { summaryAt } from '../records/places.js';
import type { NightPlaces } from './judge.js';
import { Nights } from './nights.js';
import { SCORES, valueOf, type Outcome } from './outcomes.js';

/** Some 60 bytes each, and as many again while they are judged. */
export const NIGHTS_MAX = 5_000_000;

const NIGHT = summaryAt(0, 'HR_night');
const SECONDS_PER_MINUTE = 60;
const [MINUTES, HEART, FIRST_SCORE] = [0, 1, 2];

/** Takes of each scored night what it is judged by: nothing else of it is kept. */
export class NightRows implements PageSink {
  readonly nights: Nights;
  readonly places: NightPlaces;
  /** Nights with scores, with an outcome or without. */
  scored = 0;
  /** Values that are no number, of each outcome. */
  private readonly unread: number[];
  private readonly people = new Map<string, number>();
  private readonly columns: readonly string[];
  private readonly scores: readonly number[];
  private readonly values: Float64Array;
  private readonly sleep = new Sleep();

  constructor(outcomes: readonly Outcome[]) {
    this.columns = [...new Set(outcomes.map(({ column }) => column))];
    const scores = [...new Set(outcomes.map(({ score }) => score))];
    this.scores = scores.map((score) => SCORES.indexOf(score));
    this.unread = this.columns.map(() => 0);
    const firstOutcome = FIRST_SCORE + scores.length;
    this.places = {
      minutes: MINUTES,
      heart: HEART,
      outcomes: outcomes.map(({ column, score }) => ({
        score: FIRST_SCORE + scores.indexOf(score),
        outcome: firstOutcome + this.columns.indexOf(column),
      })),
    };
    this.values = new Float64Array(firstOutcome + this.columns.length);
    this.nights = new Nights(this.values.length, NIGHTS_MAX);
  }

  async write(job: Job): Promise<void> {
    for (let row = 0; row < job.page.rows; row++) if (!job.problems.has(row)) this.take(job, row);
  }

  /** How many values of an outcome are no number. */
  unreadOf({ column }: Outcome): number {
    return this.unread[this.columns.indexOf(column)] ?? 0;
  }

  private take(job: Job, row: number): void {
    this.scored++;
    const { values } = this;
    let at = FIRST_SCORE;
    for (const score of this.scores) values[at++] = job.scores[row * OUTPUT_COLUMNS + score] ?? NaN;
    let isAny = false;
    for (const [place, column] of this.columns.entries()) {
      const value = valueOf(job.page.kept(column, row));
      if (Number.isNaN(value)) this.unread[place] = (this.unread[place] ?? 0) + 1;
      values[at++] = value ?? NaN;
      isAny ||= value !== undefined && !Number.isNaN(value);
    }
    if (!isAny) return;
    this.writeRivals(job, row);
    this.nights.add(this.indexOf(String(job.page.person(row))), values);
  }

  private writeRivals({ records }: Job, row: number): void {
    if (records === undefined) throw new Error('no records are kept');
    const first = row * LAYOUT.RECORD_LENGTH;
    normaliseSleep(records, first, this.sleep);
    this.values[MINUTES] = this.sleep.sleepS / SECONDS_PER_MINUTE;
    const hasHeart = (records[first + NIGHT + LAYOUT.COUNT] ?? 0) > 0;
    this.values[HEART] = hasHeart ? (records[first + NIGHT + LAYOUT.LEVEL] ?? NaN) : NaN;
  }

  private indexOf(person: string): number {
    const known = this.people.get(person);
    if (known !== undefined) return known;
    this.people.set(person, this.people.size);
    return this.people.size - 1;
  }
}
