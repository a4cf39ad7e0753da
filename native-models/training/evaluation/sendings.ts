import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { dayColumn, expectedOf, SCORES, type Context } from './context.js';
import { rollOut, scoreDay, type Days } from './rollout.js';
import { fixed, type Table } from './section.js';
import { rms } from './statistics.js';

const PEOPLE = 4_000;

/** What a caller sends of the days up to `day`, as offsets from it: the last is the one that is scored. */
const SENDINGS = [
  { what: 'the five nights before', offsets: [-5, -4, -3, -2, -1, 0] },
  { what: 'every second night, four of them', offsets: [-8, -6, -4, -2, 0] },
  { what: 'five nights, then three that were not sent', offsets: [-8, -7, -6, -5, -4, 0] },
  { what: 'each night sent twice: three nights', offsets: [-3, -2, -2, -1, -1, 0] },
  { what: 'the day itself sent before, then four nights', offsets: [-4, -3, -2, -1, 0, 0] },
] as const;

export const SENDINGS_CAPTION =
  'Gaps and repeated sessions: distance to the expected percentile (root mean square, points) by what is sent as past sessions, own scores as targets';

/** What gaps and repeated sessions cost: distance to the expected percentile. */
export async function sendingsTable(context: Context): Promise<Table> {
  const rows: string[][] = [];
  for (const { what, offsets } of SENDINGS) rows.push([what, ...(await distances(context, offsets))]);
  return {
    caption: SENDINGS_CAPTION,
    header: ['past sessions', ...SCORES],
    rows,
  };
}

async function distances(context: Context, offsets: readonly number[]): Promise<string[]> {
  const { model, people, day } = context;
  const some: Days = { ...people, people: people.people.slice(0, PEOPLE) };
  const sent = chosenDays(some, offsets.map((offset) => day + offset)); // prettier-ignore
  const last = offsets.length - 1;
  const { targets } = await rollOut(model, sent);
  const scores = await scoreDay(model, sent, targets, last, last);
  return SCORES.map((_, k) =>
    fixed(rms(expectedOf(context, k).subarray(0, some.people.length), dayColumn(scores, k)), 2),
  );
}

/** The same people with these days only, in this order. */
function chosenDays({ people, days, rows }: Days, chosen: readonly number[]): Days {
  const picked = new Float32Array(people.length * chosen.length * FEATURE_COUNT);
  people.forEach((_, person) => {
    chosen.forEach((day, at) => {
      const from = (person * days + day) * FEATURE_COUNT;
      picked.set(rows.subarray(from, from + FEATURE_COUNT), (person * chosen.length + at) * FEATURE_COUNT);
    });
  });
  return { people, days: chosen.length, rows: picked };
}
