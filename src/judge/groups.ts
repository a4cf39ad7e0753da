import type { NightColumns } from './nights.js';

/** Nights grouped by person, each person's in order of time. */
export interface Grouped {
  /** The index of each person's first night; one more entry at the end. */
  readonly starts: Int32Array;
  /** The requested columns, in order. */
  readonly columns: readonly Float64Array[];
}

/** Groups nights by person; each group keeps the order in which its nights were added. */
export class NightGroups {
  private readonly order: Int32Array;

  constructor(private readonly nights: NightColumns) {
    this.order = byPerson(nights.people);
  }

  /** The columns at `places`, of the nights in which the first `needed` of them are known. */
  take(places: readonly number[], needed: number): Grouped {
    const { people } = this.nights;
    const columns = places.map((place) => {
      const column = this.nights.columns[place];
      if (column === undefined) throw new Error('no such column');
      return column;
    });
    const asked = columns.slice(0, needed);
    const chosen = this.order.filter((night) => asked.every((column) => !Number.isNaN(column[night])));
    const starts: number[] = [];
    for (const [place, night] of chosen.entries())
      if (place === 0 || people[night] !== people[chosen[place - 1] ?? 0]) starts.push(place);
    starts.push(chosen.length);
    return {
      starts: Int32Array.from(starts),
      columns: columns.map((column) => Float64Array.from(chosen, (night) => column[night] ?? NaN)),
    };
  }
}

/** Indices of the nights grouped by person, in their original order. */
function byPerson(people: Int32Array): Int32Array {
  let most = 0;
  for (const person of people) most = Math.max(most, person + 1);
  const starts = new Int32Array(most + 1);
  for (const person of people) starts[person + 1] = (starts[person + 1] ?? 0) + 1;
  for (let person = 0; person < most; person++)
    starts[person + 1] = (starts[person + 1] ?? 0) + (starts[person] ?? 0);
  const order = new Int32Array(people.length);
  for (const [night, person] of people.entries()) {
    const place = starts[person] ?? 0;
    order[place] = night;
    starts[person] = place + 1;
  }
  return order;
}
