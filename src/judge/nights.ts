import { OperatorError } from '../base/errors.js';

/** Nights grouped by person, each person's in order of time. */
export interface Grouped {
  /** The index of each person's first night; one more entry at the end. */
  readonly starts: Int32Array;
  /** The requested columns, in order; NaN where a value is missing. */
  readonly columns: readonly Float64Array[];
}

/** Collects nights, each person's in order of time, with some numbers for each, in compact memory. */
export class Nights {
  private length = 0;
  /** People are numbered from 0 on. */
  private readonly people: Int32Array;
  private readonly columns: readonly Float32Array[];

  /** Memory for all `nightsMax` costs nothing until it is written to. */
  constructor(
    width: number,
    private readonly nightsMax: number,
  ) {
    this.people = new Int32Array(nightsMax);
    this.columns = Array.from({ length: width }, () => new Float32Array(nightsMax));
  }

  /** @throws OperatorError */
  add(person: number, values: ArrayLike<number>): void {
    if (this.length === this.nightsMax) {
      throw new OperatorError(
        `more than ${this.nightsMax} nights with outcomes: judge a part of the people, which says the same`,
      );
    }
    this.people[this.length] = person;
    for (const [place, column] of this.columns.entries()) column[this.length] = values[place] ?? NaN;
    this.length++;
  }

  /**
   * The columns at `places`, of the nights in which the first `needed` of them are known; each person's stay in the
   * order in which they were added.
   */
  take(places: readonly number[], needed: number): Grouped {
    const { people } = this;
    const columns = places.map((place) => {
      const column = this.columns[place];
      if (column === undefined) throw new Error('no such column');
      return column;
    });
    const asked = columns.slice(0, needed);
    const chosen = this.byPerson().filter((night) => asked.every((column) => !Number.isNaN(column[night])));
    const starts: number[] = [];
    for (const [place, night] of chosen.entries())
      if (place === 0 || people[night] !== people[chosen[place - 1] ?? 0]) starts.push(place);
    starts.push(chosen.length);
    return {
      starts: Int32Array.from(starts),
      columns: columns.map((column) => Float64Array.from(chosen, (night) => column[night] ?? NaN)),
    };
  }

  /** Indices of the nights grouped by person, in their original order. */
  private byPerson(): Int32Array {
    const people = this.people.subarray(0, this.length);
    const most = people.reduce((highest, person) => Math.max(highest, person), -1);
    const starts = new Int32Array(most + 2);
    for (const person of people) starts[person + 1] = (starts[person + 1] ?? 0) + 1;
    for (let person = 0; person <= most; person++)
      starts[person + 1] = (starts[person + 1] ?? 0) + (starts[person] ?? 0);
    const order = new Int32Array(people.length);
    for (const [night, person] of people.entries()) {
      const place = starts[person] ?? 0;
      order[place] = night;
      starts[person] = place + 1;
    }
    return order;
  }
}
