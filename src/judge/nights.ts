/** Nights as columns of numbers, grouped by person. */
import { OperatorError } from '../base/errors.js';

/** Columns of nights grouped by person, each person's in order of time; NaN where a value is missing. */
export type Grouped<Name extends string> = Readonly<Record<Name, Float64Array>> & {
  /** The index of each person's first night; one more entry at the end. */
  readonly starts: Int32Array;
};

/** Collects nights, each person's in order of time, with some numbers for each, in compact memory. */
export class Nights {
  private length = 0;
  /** The place of each person's last night. */
  private readonly last: number[] = [];
  /** People are numbered from 0 on. */
  private readonly people: Int32Array;
  private readonly columns: ReadonlyMap<string, Float64Array>;

  /** Memory for all `nightsMax` costs nothing until it is written to. */
  constructor(
    names: readonly string[],
    private readonly nightsMax: number,
  ) {
    this.people = new Int32Array(nightsMax);
    this.columns = new Map(names.map((name) => [name, new Float64Array(nightsMax)]));
  }

  /**
   * `values`: in the order of the columns, NaN where one is missing. With `keptFrom` they replace those of the person's
   * last night, but for missing ones from this place on.
   * @throws OperatorError if there are too many nights
   */
  add(person: number, values: ArrayLike<number>, keptFrom?: number): void {
    const night = (keptFrom === undefined ? undefined : this.last[person]) ?? this.length;
    if (night === this.nightsMax) {
      throw new OperatorError(
        `more than ${this.nightsMax} nights with outcomes: judge a part of the people, which says the same`,
      );
    }
    this.people[night] = person;
    this.last[person] = night;
    let place = 0;
    for (const column of this.columns.values()) {
      const value = values[place] ?? NaN;
      if (keptFrom === undefined || place < keptFrom || !Number.isNaN(value)) column[night] = value;
      place++;
    }
    this.length = Math.max(this.length, night + 1);
  }

  /** The columns of these names, of the nights in which the `needed` ones are known. */
  take<Name extends string>(
    names: Readonly<Record<Name, string>>,
    needed: readonly NoInfer<Name>[],
  ): Grouped<Name> {
    const { people } = this;
    const columnOf = (name: Name): Float64Array => {
      const column = this.columns.get(names[name]);
      if (column === undefined) throw new RangeError(`no column ${names[name]}`);
      return column;
    };
    const asked = needed.map(columnOf);
    const chosen = this.byPerson().filter((night) => asked.every((column) => !Number.isNaN(column[night])));
    const starts: number[] = [];
    for (const [place, night] of chosen.entries())
      if (place === 0 || people[night] !== people[chosen[place - 1] ?? 0]) starts.push(place);
    starts.push(chosen.length);
    const columns = (Object.keys(names) as Name[]).map((name) => {
      const column = columnOf(name);
      return [name, Float64Array.from(chosen, (night) => column[night] ?? NaN)];
    });
    return { ...Object.fromEntries(columns), starts: Int32Array.from(starts) } as Grouped<Name>;
  }

  /** Indices of the nights grouped by person, in their original order. */
  private byPerson(): Int32Array {
    const { length, nightsMax } = this;
    const people = this.people.subarray(0, length);
    // A person and a night as one number, below 2^53.
    const keys = Float64Array.from(people, (person, night) => person * nightsMax + night);
    return Int32Array.from(keys.toSorted(), (key) => key % nightsMax);
  }
}
