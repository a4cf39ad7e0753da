import { join } from 'node:path';
import type { Session } from '#acuity/contract/request.js';
import { COLUMN, type ServedModel } from '../../served.js';
import { centred, correlation } from '../leastSquares.js';
import { follow } from '../requests.js';
import { demand, interval, type Demand, type Table } from '../section.js';
import { bootstrap, mean, type Estimate } from '../statistics.js';
import { asWorn } from './asWorn.js';
import { groupRows, numberOf, readCsv, type Row } from './csv.js';
import type { RealFinding } from './validationData.js';

/** PMData (Thambawita et al. 2020): months of nights of a wrist device, and ratings of each day. */
const DAYS = 'pmdata/days.csv';
const PEOPLE = 'pmdata/people.csv';
/** Ratings that a person's own mean is made of. */
const OWN_RATINGS = 5;
const DIGITS = 2;

/** A rating, higher is better, and the score that should go with it. The pairs were chosen before any correlation was seen. */
interface Rating {
  readonly name: string;
  readonly score: string;
  readonly of: (scores: Float32Array) => number;
}
const RATINGS: readonly Rating[] = [
  { name: 'mood', score: 'probability of High valence', of: (scores) => scores[COLUMN.valence] ?? NaN },
  { name: 'stress', score: 'stress turned round', of: (scores) => -(scores[COLUMN.stress] ?? NaN) },
  { name: 'fatigue', score: 'attention', of: (scores) => scores[COLUMN.attention] ?? NaN },
  { name: 'readiness', score: 'C_SCORE', of: (scores) => scores[COLUMN.C_SCORE] ?? NaN },
];

const WAYS = ['network', 'minutes', 'own'] as const;
type Way = (typeof WAYS)[number];
/** One person's judged days: the rating, and what each way says of it. */
type Judged = Readonly<Record<Way | 'rating', readonly number[]>>;

interface Night {
  readonly row: Row;
  readonly asleepMin: number;
  readonly scores: Float32Array;
}

/** Whether scores go with what people write of their day, within a person and over all days together. */
export async function pmdata(folder: string, model: ServedModel): Promise<RealFinding | undefined> {
  const [rows, people] = [readCsv(join(folder, DAYS)), readCsv(join(folder, PEOPLE))];
  if (rows === undefined || people === undefined) return undefined;
  const lives: Night[][] = [];
  for (const [id, days] of groupRows(rows, 'person')) {
    const person = people.find((row) => row.get('person') === id);
    if (person !== undefined) lives.push(await nightsOf(person, days, model));
  }
  const judged = RATINGS.map((rating) => lives.map((nights) => judge(nights, rating)));
  return {
    demands: [
      ...RATINGS.map((rating, index) => beatsCoin(rating, judged[index] ?? [])),
      beatsMinutes(judged),
    ],
    tables: [tableOf(judged)],
    decisive: {
      'PMData people': lives.length,
      'PMData score': overall(judged, 'network'),
      'PMData minutes asleep': overall(judged, 'minutes'),
      'PMData own ratings': overall(judged, 'own'),
    },
  };
}

/** Mean over the four ratings of the correlation within a person. */
function overall(judged: readonly (readonly Judged[])[], way: Way): number {
  return mean(judged.map((people) => within(people, way, Int32Array.from(people.keys()))));
}

async function nightsOf(person: Row, days: readonly Row[], model: ServedModel): Promise<Night[]> {
  const recorded = days
    .toSorted((a, b) => ((a.get('date') ?? '') < (b.get('date') ?? '') ? -1 : 1))
    .filter((row) => Number.isFinite(numberOf(row, 'minutes_asleep')));
  const scores = await follow(
    model,
    recorded.map((row) => sessionOf(person, row)),
  );
  return recorded.map((row, index) => ({
    row,
    asleepMin: numberOf(row, 'minutes_asleep'),
    scores: scores[index] ?? new Float32Array(),
  }));
}

/** The device's resting heart rate stands in for the night's: samples are not in the set. */
function sessionOf(person: Row, row: Row): Session {
  const seconds = (name: string): number | null => {
    const minutes = numberOf(row, name);
    return Number.isFinite(minutes) ? 60 * minutes : null;
  };
  return {
    ...asWorn({
      dayHr: NaN,
      nightHr: numberOf(row, 'resting_hr'),
      nightRr: NaN,
      asleepH: numberOf(row, 'minutes_asleep') / 60,
      awakeH: numberOf(row, 'minutes_awake') / 60,
    }),
    deepSleepSeconds: seconds('deep'),
    remSleepSeconds: seconds('rem'),
    lightSleepSeconds: seconds('light'),
    age: numberOf(person, 'age'),
    height_cm: numberOf(person, 'height_cm'),
    sex: person.get('sex') === 'F' ? 'F' : 'M',
  };
}

/** The days that have a rating and enough ratings before it. */
function judge(nights: readonly Night[], { name, of }: Rating): Judged {
  const rated = nights.filter(({ row }) => numberOf(row, name) > 0);
  const ratings = rated.map(({ row }) => numberOf(row, name));
  const days = rated.slice(OWN_RATINGS);
  return {
    rating: ratings.slice(OWN_RATINGS),
    network: days.map(({ scores }) => of(scores)),
    minutes: days.map(({ asleepMin }) => asleepMin),
    own: days.map((_, index) => mean(ratings.slice(index, index + OWN_RATINGS))),
  };
}

/** Correlation over the chosen people's days, each value less the person's own mean. */
function within(people: readonly Judged[], way: Way, chosen: Int32Array): number {
  const of = (name: Way | 'rating'): number[] =>
    [...chosen].flatMap((id) => [...centred(people[id]?.[name] ?? [])]);
  return correlation(of(way), of('rating'));
}

function estimate(people: readonly Judged[], way: Way): Estimate {
  return bootstrap(people.length, (chosen) => within(people, way, chosen));
}

function beatsCoin({ name, score }: Rating, people: readonly Judged[]): Demand {
  const network = estimate(people, 'network');
  return demand(
    `PMData ${name}, within a person: ${score} goes with it (correlation, interval above 0)`,
    interval(network, DIGITS),
    network.low > 0,
    `coin 0; minutes asleep ${interval(estimate(people, 'minutes'), DIGITS)}`,
  );
}

function beatsMinutes(judged: readonly (readonly Judged[])[]): Demand {
  const more = bootstrap(judged[0]?.length ?? 0, (chosen) =>
    mean(judged.map((people) => within(people, 'network', chosen) - within(people, 'minutes', chosen))),
  );
  return demand(
    'PMData, within a person: scores say more than minutes asleep (difference of the correlations, mean of the four ratings, interval above 0)',
    interval(more, DIGITS),
    more.low > 0,
    'minutes asleep 0',
  );
}

function tableOf(judged: readonly (readonly Judged[])[]): Table {
  return {
    caption: 'PMData, correlation with what people wrote of the day, within a person [95 %, over people]',
    header: ['rating', 'people', 'days', 'score', 'minutes asleep', 'mean of own last five ratings'],
    rows: RATINGS.map(({ name, score }, index) => {
      const people = judged[index] ?? [];
      const [network, minutes, own] = WAYS.map((way) => interval(estimate(people, way), DIGITS));
      const days = people.reduce((sum, { rating }) => sum + rating.length, 0);
      return [name, String(people.length), String(days), `${score} ${network}`, minutes ?? '', own ?? ''];
    }),
  };
}
