import { OperatorError } from '../base/errors.js';

/** More nights than the memory reserved. */
export class TooManyNightsError extends OperatorError {
  override readonly name = 'TooManyNightsError';
}

/** Nights: the person of each, and its columns, NaN where a value is missing. */
export interface NightColumns {
  /** People are numbered from 0 on. */
  readonly people: Int32Array;
  readonly columns: readonly Float32Array[];
}

const FIRST_LENGTH = 4_096;

/** Collects nights, each person's in order of time, with some numbers for each, in compact memory. */
export class Nights {
  length = 0;
  private people = new Int32Array(FIRST_LENGTH);
  private columns: Float32Array[];

  constructor(
    private readonly width: number,
    private readonly nightsMax: number,
  ) {
    this.columns = Array.from({ length: width }, () => new Float32Array(FIRST_LENGTH));
  }

  /** @throws TooManyNightsError */
  add(person: number, values: ArrayLike<number>): void {
    if (this.length === this.nightsMax) {
      throw new TooManyNightsError(
        `more than ${this.nightsMax} nights with outcomes: judge a part of the people, which says the same`,
      );
    }
    if (this.length === this.people.length) this.grow();
    this.people[this.length] = person;
    for (let column = 0; column < this.width; column++) {
      const target = this.columns[column];
      if (target !== undefined) target[this.length] = values[column] ?? NaN;
    }
    this.length++;
  }

  /** All nights, in the order in which they were added. */
  all(): NightColumns {
    return {
      people: this.people.subarray(0, this.length),
      columns: this.columns.map((column) => column.subarray(0, this.length)),
    };
  }

  private grow(): void {
    const people = new Int32Array(2 * this.people.length);
    people.set(this.people);
    this.people = people;
    this.columns = this.columns.map((column) => {
      const larger = new Float32Array(2 * column.length);
      larger.set(column);
      return larger;
    });
  }
}
