import { OperatorError } from '../base/operatorError.js';
import { PAST_MAX } from '#rules/fields.js';
import { LAYOUT } from '../records/layout.js';
import type { PredictionRequest } from '../records/request.js';

const { RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;
/** What is kept of a session: its moment in milliseconds since 1970, its record, its scores as a past target. */
export const ENTRY_LENGTH = 1 + RECORD_LENGTH + TARGET_LENGTH;
const PERSON_LENGTH = PAST_MAX * ENTRY_LENGTH;
const PEOPLE_PER_SLAB = 1024;

/** More people than memory was set aside for. */
export class TooManyPeopleError extends OperatorError {
  override readonly name = 'TooManyPeopleError';
}

/**
 * The latest five scored sessions of each person, oldest first, as the clients' `History` keeps them: a session of the
 * same moment replaces the one that was there, and none is a past of its own moment. Moments of a person never go
 * back, which the caller sees to. A person costs 1,280 bytes and the name.
 */
export class Histories {
  private readonly people = new Map<string, number>();
  private readonly slabs: Float64Array[] = [];
  private counts = new Uint8Array(PEOPLE_PER_SLAB);
  private readonly records = new Float64Array((1 + PAST_MAX) * RECORD_LENGTH);
  private readonly targets = new Float64Array(PAST_MAX * TARGET_LENGTH);
  /** By the number of past sessions. */
  private readonly requests: readonly PredictionRequest[];

  constructor(private readonly peopleMax: number) {
    this.requests = Array.from({ length: 1 + PAST_MAX }, (_, pastCount) => ({
      records: this.records.subarray(0, (1 + pastCount) * RECORD_LENGTH),
      targets: this.targets.subarray(0, pastCount * TARGET_LENGTH),
      pastCount,
    }));
  }

  get size(): number {
    return this.people.size;
  }

  /** The number of a person; a new one for whom nothing is known of. @throws TooManyPeopleError */
  indexOf(person: string): number {
    const known = this.people.get(person);
    if (known !== undefined) return known;
    const index = this.people.size;
    if (index === this.peopleMax) {
      throw new TooManyPeopleError(
        `more than ${this.peopleMax} people; the latest sessions of each take 1.3 KB of memory: raise --people-max, or score parts of the people one after the other`,
      );
    }
    if (index % PEOPLE_PER_SLAB === 0) this.addSlab();
    this.people.set(person, index);
    return index;
  }

  /** When the latest session of a person was; −Infinity where there is none. */
  latest(person: number): number {
    const count = this.counts[person] ?? 0;
    return count === 0 ? -Infinity : this.entry(person, count - 1)[0]!;
  }

  /** The request for a session of `moment` with the past that the person has by now; holds until the next one. */
  request(person: number, moment: number, record: Float64Array): PredictionRequest {
    this.records.set(record);
    const kept = this.counts[person] ?? 0;
    const pastCount = this.latest(person) < moment ? kept : kept - 1;
    for (let past = 0; past < pastCount; past++) {
      const entry = this.entry(person, past);
      this.records.set(entry.subarray(1, 1 + RECORD_LENGTH), (1 + past) * RECORD_LENGTH);
      this.targets.set(entry.subarray(1 + RECORD_LENGTH), past * TARGET_LENGTH);
    }
    return this.requests[pastCount]!;
  }

  /** Adds a scored session, or replaces that of the same moment; the oldest of more than five is forgotten. */
  add(person: number, moment: number, record: Float64Array, target: Float64Array): void {
    const count = this.counts[person] ?? 0;
    const replaces = count > 0 && this.latest(person) === moment;
    if (!replaces && count === PAST_MAX) this.forgetOldest(person);
    const last = replaces ? count - 1 : Math.min(count, PAST_MAX - 1);
    const entry = this.entry(person, last);
    entry[0] = moment;
    entry.set(record, 1);
    entry.set(target, 1 + RECORD_LENGTH);
    this.counts[person] = last + 1;
  }

  /** Each person with what is kept, oldest first: `ENTRY_LENGTH` numbers a session. */
  *entries(): Generator<readonly [person: string, sessions: Float64Array]> {
    for (const [person, index] of this.people) {
      const count = this.counts[index] ?? 0;
      if (count > 0) yield [person, this.all(index).subarray(0, count * ENTRY_LENGTH)];
    }
  }

  private forgetOldest(person: number): void {
    this.all(person).copyWithin(0, ENTRY_LENGTH);
  }

  private all(person: number): Float64Array {
    const first = (person % PEOPLE_PER_SLAB) * PERSON_LENGTH;
    return this.slabs[Math.floor(person / PEOPLE_PER_SLAB)]!.subarray(first, first + PERSON_LENGTH);
  }

  private entry(person: number, index: number): Float64Array {
    return this.all(person).subarray(index * ENTRY_LENGTH, (index + 1) * ENTRY_LENGTH);
  }

  private addSlab(): void {
    this.slabs.push(new Float64Array(PEOPLE_PER_SLAB * PERSON_LENGTH));
    if (this.slabs.length * PEOPLE_PER_SLAB <= this.counts.length) return;
    const grown = new Uint8Array(2 * this.counts.length);
    grown.set(this.counts);
    this.counts = grown;
  }
}
