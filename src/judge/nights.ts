import { OperatorError } from '../base/operatorError.js';

/** More nights than memory was set aside for. */
export class TooManyNightsError extends OperatorError {
  override readonly name = 'TooManyNightsError';
}

/** Of a night: whose it was and what stands in its columns, NaN where nothing does. */
export interface NightColumns {
  /** People are numbered from 0 on. */
  readonly people: Int32Array;
  readonly columns: readonly Float32Array[];
}

const FIRST_LENGTH = 4_096;

/** Nights in the order of time of each person, some numbers of each: as many bytes as that takes, and no more. */
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

  /** All of them, in the order in which they were added. */
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
