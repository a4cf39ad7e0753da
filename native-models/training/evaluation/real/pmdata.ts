import type { Session } from '#acuity/contract/request.js';
import { COLUMN } from '../../served.js';
import type { Judged } from '../context.js';
import { follow } from '../requests.js';
import { demand, fixed, interval } from '../section.js';
import { bootstrapOf, centred, correlation, mean } from '../statistics.js';
import { groupRows, levelOf, numberOf, orNull, readCsv, type RealFinding, type Row } from './dataSet.js';

/** PMData (Thambawita et al. 2020): months of nights of a wrist device, and ratings of each day. */
const [DAYS, PEOPLE] = ['pmdata/days.csv', 'pmdata/people.csv'];
/** Ratings that a person's own mean is made of. */
const OWN_RATINGS = 5;

/** Ratings, higher is better, and the score that should go with each. Chosen before any correlation was seen. */
const RATINGS: Readonly<Record<string, (scores: Float32Array) => number>> = {
  mood: (scores) => scores[COLUMN.valence] ?? NaN,
  stress: (scores) => -(scores[COLUMN.stress] ?? NaN),
  fatigue: (scores) => scores[COLUMN.attention] ?? NaN,
  readiness: (scores) => scores[COLUMN.C_SCORE] ?? NaN,
};

const WAYS = ['network', 'minutes', 'own'] as const;
type Way = (typeof WAYS)[number];
/** One person's judged days: the rating, and what each way says of it. */
type Rated = Readonly<Record<Way | 'rating', readonly number[]>>;

interface Night {
  readonly row: Row;
  readonly scores: Float32Array;
}

/** Whether scores go with what people write of their day, within a person. */
export async function pmdata(
  folder: string,
  { model }: Pick<Judged, 'model'>,
): Promise<RealFinding | undefined> {
  const [rows, people] = [readCsv(folder, DAYS ?? ''), readCsv(folder, PEOPLE ?? '')];
  if (rows === undefined || people === undefined) return undefined;
  const lives: Night[][] = [];
  for (const [id, days] of groupRows(rows, 'person')) {
    const person = people.find((row) => row.get('person') === id);
    if (person === undefined) continue;
    const nights = days
      .toSorted((a, b) => ((a.get('date') ?? '') < (b.get('date') ?? '') ? -1 : 1))
      .filter((row) => Number.isFinite(numberOf(row, 'minutes_asleep')));
    const found = await follow(
      model,
      nights.map((row) => sessionOf(person, row)),
    );
    lives.push(nights.map((row, index) => ({ row, scores: found[index] ?? new Float32Array() })));
  }
  const names = Object.keys(RATINGS);
  const rated = lives.map((nights) => names.map((name) => rate(nights, name)));
  const overall = (way: Way): number => mean(names.map((_, k) => within(rated, k, way)));
  const more = bootstrapOf(rated, (people) =>
    mean(names.map((_, k) => within(people, k, 'network') - within(people, k, 'minutes'))),
  );
  const days = rated.reduce((sum, [first]) => sum + (first?.rating.length ?? 0), 0);
  const found = names.map((_, k) => bootstrapOf(rated, (people) => within(people, k, 'network')));
  return {
    demands: [
      demand(
        `PMData, within a person, ${days} days: scores go with ${names.join(', ')} (correlation, each interval above 0; a coin 0)`,
        found.map((one) => interval(one, 2)).join(', '),
        found.every(({ low }) => low > 0),
      ),
      demand(
        'PMData, within a person: scores say more than minutes asleep (difference of the correlations, mean of the four, interval above 0)',
        interval(more, 2),
        more.low > 0,
      ),
    ],
    figures: [
      [
        `Daily ratings (PMData, ${lives.length} people): correlation within a person with the scores; with minutes asleep; with the mean of the own last five`,
        WAYS.map((way) => fixed(overall(way), 2)).join('; '),
      ],
    ],
  };
}

/** The device's resting heart rate stands in for the night's: samples are not in the set. */
function sessionOf(person: Row, row: Row): Session {
  const seconds = (name: string): number | null => orNull(60 * numberOf(row, name));
  return {
    HR_night: levelOf(row, 'resting_hr'),
    sleepTimeSeconds: seconds('minutes_asleep'),
    awakeSleepSeconds: seconds('minutes_awake'),
    deepSleepSeconds: seconds('deep'),
    remSleepSeconds: seconds('rem'),
    lightSleepSeconds: seconds('light'),
    age: numberOf(person, 'age'),
    height_cm: numberOf(person, 'height_cm'),
    sex: person.get('sex') === 'F' ? 'F' : 'M',
  };
}

/** The days that have a rating and enough ratings before it. */
function rate(nights: readonly Night[], name: string): Rated {
  const known = nights.filter(({ row }) => numberOf(row, name) > 0);
  const ratings = known.map(({ row }) => numberOf(row, name));
  const days = known.slice(OWN_RATINGS);
  return {
    rating: ratings.slice(OWN_RATINGS),
    network: days.map(({ scores }) => RATINGS[name]?.(scores) ?? NaN),
    minutes: days.map(({ row }) => numberOf(row, 'minutes_asleep')),
    own: days.map((_, index) => mean(ratings.slice(index, index + OWN_RATINGS))),
  };
}

/** Correlation with rating `k` over people's days, each value less the person's own mean. */
function within(people: readonly (readonly Rated[])[], k: number, way: Way): number {
  const of = (name: Way | 'rating'): number[] =>
    people.flatMap((rated) => [...centred(rated[k]?.[name] ?? [])]);
  return correlation(of(way), of('rating'));
}
