import { join } from 'node:path';
import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { Life } from '../../cohort/day.js';
import { Wearer } from '../../cohort/devices.js';
import { parameters } from '../../cohort/parameters.js';
import { drawPerson } from '../../cohort/person.js';
import { Random } from '../../cohort/random.js';
import { STREAM } from '../../cohort/streams.js';
import { recordOf, type ServedModel } from '../../served.js';
import { plot } from '../plot.js';
import { demand, fixed, interval, isWithin, type Figure } from '../section.js';
import { auc, bootstrap, mean, sd, type Estimate } from '../statistics.js';
import { groupRows, numberOf, readCsv, type Row } from './csv.js';
import type { Finding } from './finding.js';

/** LifeSnaps (Yfantidou et al. 2022): 48 people, months of daily summaries of a wrist device, mood diaries. */
const FILE = 'lifesnaps/daily.csv';
const DAYS_LEAST = 10;
const DOMINANCE = 0.05;
const SYNTHETIC_PEOPLE = 2_000;
const SYNTHETIC_DAYS = 30;

/** A signal in the data and in the cohort. People of the study are young adults: so are those compared. */
interface Signal {
  readonly name: string;
  readonly unit: string;
  readonly column: string;
  readonly plausible: readonly [number, number];
  readonly scale: number;
}
const SIGNALS: readonly Signal[] = [
  { name: 'resting heart rate', unit: 'bpm', column: 'resting_hr', plausible: [35, 120], scale: 1 },
  { name: 'sleeping heart rate', unit: 'bpm', column: 'nremhr', plausible: [35, 120], scale: 1 },
  {
    name: 'breathing asleep',
    unit: 'breaths/min',
    column: 'full_sleep_breathing_rate',
    plausible: [8, 26],
    scale: 1,
  },
  { name: 'time asleep', unit: 'h', column: 'minutesAsleep', plausible: [2, 14], scale: 1 / 60 },
];

interface Distribution {
  readonly mean: number;
  readonly between: number;
  readonly within: number;
  readonly personMeans: readonly number[];
}

export async function lifesnaps(folder: string, model: ServedModel): Promise<Finding | undefined> {
  const rows = readCsv(join(folder, FILE));
  if (rows === undefined) return undefined;
  const people = groupRows(rows, 'id');
  const real = SIGNALS.map((signal) =>
    distribution([...people.values()].map((days) => valuesOf(days, signal))),
  );
  const cohort = simulated();
  const moods = await judgeMoods(people, model);
  return {
    demands: [
      ...SIGNALS.slice(0, 3).map(({ name }, index) => meanMatches(name, real[index], cohort[index], 0.6)),
      meanMatches('time asleep', real[3], cohort[3], 0.6),
      ...SIGNALS.map(({ name }, index) => spreadMatches(name, real[index], cohort[index])),
      demand(
        'LifeSnaps: biometrics alone say little about mood (AUC at most 0.65)',
        `valence ${interval(moods.valence.alone, 2)}, arousal ${interval(moods.arousal.alone, 2)}`,
        moods.valence.alone.value <= 0.65 && moods.arousal.alone.value <= 0.65,
      ),
      ...(['valence', 'arousal'] as const).map((name) => {
        const { own } = moods[name];
        return demand(
          `LifeSnaps ${name}: five sessions with own scores are not worse than chance (interval reaches 0.5)`,
          interval(own, 2),
          own.high >= 0.5,
        );
      }),
      ...(['valence', 'arousal'] as const).map((name) => {
        const { rated, alone } = moods[name];
        return demand(
          `LifeSnaps ${name}: past ratings as targets dominate (AUC at least ${DOMINANCE} above that of biometrics)`,
          `${interval(rated, 2)} against ${interval(alone, 2)}`,
          rated.value >= alone.value + DOMINANCE,
        );
      }),
    ],
    tables: [
      {
        caption: 'LifeSnaps against the cohort (aged 20 to 45): mean, spread between and within persons',
        header: ['', 'mean, data', 'cohort', 'between, data', 'cohort', 'within, data', 'cohort'],
        rows: SIGNALS.map(({ name, unit }, index) => [
          `${name}, ${unit}`,
          ...(['mean', 'between', 'within'] as const).flatMap((of) => [
            fixed(real[index]?.[of] ?? NaN, 2),
            fixed(cohort[index]?.[of] ?? NaN, 2),
          ]),
        ]),
      },
      {
        caption: `Mood diaries of LifeSnaps (${moods.days} days, ${moods.people} people): AUC [95 %, over people]`,
        header: [
          '',
          'biometrics, no history',
          'five sessions, own scores',
          'five sessions, past ratings as labels',
          'mean of the same past ratings, no network',
        ],
        rows: (['valence', 'arousal'] as const).map((name) => [
          name,
          ...(['alone', 'own', 'rated', 'ratings'] as const).map((of) => interval(moods[name][of], 2)),
        ]),
      },
    ],
    figures: [cumulative(real, cohort)],
  };
}

function meanMatches(
  name: string,
  real: Distribution | undefined,
  cohort: Distribution | undefined,
  tolerance: number,
) {
  const gap = ((cohort?.mean ?? NaN) - (real?.mean ?? NaN)) / (real?.between ?? NaN);
  return demand(
    `LifeSnaps ${name}: mean within ${tolerance} of the spread between persons`,
    `${fixed(cohort?.mean ?? NaN, 2)} against ${fixed(real?.mean ?? NaN, 2)}`,
    Math.abs(gap) <= tolerance,
  );
}

function spreadMatches(name: string, real: Distribution | undefined, cohort: Distribution | undefined) {
  const ratios = [
    (cohort?.between ?? NaN) / (real?.between ?? NaN),
    (cohort?.within ?? NaN) / (real?.within ?? NaN),
  ];
  return demand(
    `LifeSnaps ${name}: spreads between and within persons, ratio 0.6 to 1.6`,
    ratios.map((ratio) => fixed(ratio, 2)).join(', '),
    ratios.every((ratio) => isWithin(ratio, 0.6, 1.6)),
  );
}

function valuesOf(days: readonly Row[], { column, plausible, scale }: Signal): number[] {
  return days.map((day) => numberOf(day, column) * scale).filter((value) => isWithin(value, ...plausible));
}

function distribution(byPerson: readonly (readonly number[])[]): Distribution {
  const enough = byPerson.filter((values) => values.length >= DAYS_LEAST);
  const personMeans = enough.map((values) => mean(values));
  return {
    mean: mean(personMeans),
    between: sd(personMeans),
    within: mean(enough.map((values) => sd(values))),
    personMeans,
  };
}

/** The same four signals of simulated young adults, with the error of a device. */
function simulated(): Distribution[] {
  const p = parameters();
  const byPerson: number[][][] = SIGNALS.map(() => []);
  const noise = new Random(5);
  for (let id = 0; id < SYNTHETIC_PEOPLE; id++) {
    const person = drawPerson(id, new Random(5, id, STREAM.traits), p);
    if (person.age < 20 || person.age > 45) continue;
    const life = new Life(person, 5, p);
    const days = Array.from({ length: SYNTHETIC_DAYS }, () => life.next());
    const { hrBias, rrBias, sleepBiasH } = new Wearer(person, 5, p).on(0);
    // A day's resting rate, as devices give it, rests on night and day; it moves about as much as the night does.
    byPerson[0]?.push(days.map((day) => person.restingHr + hrBias + 0.8 * day.nightHrDeviation));
    byPerson[1]?.push(days.map((day) => person.sleepingHr + hrBias + day.nightHrDeviation));
    byPerson[2]?.push(days.map((day) => person.nightRr + rrBias + day.nightRrDeviation));
    byPerson[3]?.push(days.map((day) => day.asleepH + sleepBiasH + noise.normal(0, p.sleepErrorH)));
  }
  return byPerson.map((people) => distribution(people));
}

function cumulative(real: readonly Distribution[], cohort: readonly Distribution[]): Figure {
  const steps = Array.from({ length: 21 }, (_, index) => index / 20);
  const quantiles = ({ personMeans }: Distribution): number[] => {
    const sorted = personMeans.toSorted((a, b) => a - b);
    return steps.map((step) => sorted[Math.round(step * (sorted.length - 1))] ?? NaN);
  };
  const standard = (values: readonly number[], of: Distribution): number[] =>
    values.map((v) => (v - of.mean) / of.between);
  return {
    file: 'cohort-against-real.svg',
    caption:
      'Person means of LifeSnaps and the cohort: share of people below, in SD of the real spread about the real mean',
    svg: plot({
      title: 'Cohort against LifeSnaps, person means',
      x: 'SD of the real spread about the real mean',
      y: 'share of people below',
      xRange: [-3, 3],
      series: SIGNALS.flatMap(({ name }, index) => {
        const [data, synthetic] = [real[index], cohort[index]];
        if (data === undefined || synthetic === undefined) return [];
        return [
          {
            name: `${name}, data`,
            colour: index,
            style: 'dashed' as const,
            points: standard(quantiles(data), data).map((x, i) => [x, steps[i] ?? NaN] as const),
          },
          {
            name: `${name}, cohort`,
            colour: index,
            points: standard(quantiles(synthetic), data).map((x, i) => [x, steps[i] ?? NaN] as const),
          },
        ];
      }),
    }),
  };
}

interface Diary {
  readonly session: Session;
  readonly valence: boolean | undefined;
  readonly arousal: boolean | undefined;
}

type Way = 'alone' | 'own' | 'rated';
type Ways = Readonly<Record<Way | 'ratings', Estimate>>;

type Label = 'valence' | 'arousal';

interface Judged {
  readonly person: number;
  readonly diary: Diary;
  readonly past: readonly Diary[];
  readonly alone: Float32Array;
  readonly own: Float32Array;
  readonly rated: Float32Array;
}

/** Scores the diary days three ways and ranks them against the ratings. */
async function judgeMoods(people: ReadonlyMap<string, readonly Row[]>, model: ServedModel) {
  const judged: Judged[] = [];
  let person = 0;
  for (const rows of people.values()) {
    const diaries = rows
      .map(diaryOf)
      .filter((diary) => diary.valence !== undefined || diary.arousal !== undefined);
    const own: ScoreRecord[] = [];
    for (const [index, diary] of diaries.entries()) {
      const alone = await model.score({ current_session: diary.session });
      const past = diaries.slice(Math.max(0, index - 5), index);
      const recent = own.slice(Math.max(0, index - 5));
      const request = { current_session: diary.session, past_sessions: past.map(({ session }) => session) };
      const scored = index === 0 ? alone : await model.score({ ...request, past_targets: recent });
      const ratings = recent.map((record, at) => rate(record, past[at]));
      const rated = index === 0 ? alone : await model.score({ ...request, past_targets: ratings });
      own.push(recordOf(scored));
      if (index >= 3) judged.push({ person, diary, past, alone, own: scored, rated });
    }
    person++;
  }
  const area = (name: Label, scoreOf: (day: Judged) => number): Estimate => {
    const known = judged.filter(
      (day) => day.diary[name] !== undefined && day.past.some((past) => past[name] !== undefined),
    );
    const byPerson = Array.from({ length: person }, (_, id) => known.filter((day) => day.person === id));
    return bootstrap(person, (chosen) => {
      const days = [...chosen].flatMap((id) => byPerson[id] ?? []);
      return auc(
        days.map(scoreOf),
        days.map(({ diary }) => (diary[name] === true ? 1 : 0)),
      );
    });
  };
  const ways = (name: Label): Ways => {
    const by = (way: Way): Estimate => area(name, (day) => day[way][name === 'valence' ? 5 : 6] ?? NaN);
    const ratings = area(name, ({ past }) =>
      mean(past.flatMap((day) => (day[name] === undefined ? [] : [day[name] ? 1 : 0]))),
    );
    return { alone: by('alone'), own: by('own'), rated: by('rated'), ratings };
  };
  return { days: judged.length, people: person, valence: ways('valence'), arousal: ways('arousal') };
}

/** The person's own rating in place of the network's label, where there is one. */
function rate(record: ScoreRecord, diary: Diary | undefined): ScoreRecord {
  const label = (rating: boolean | undefined, otherwise: 'Low' | 'High'): 'Low' | 'High' =>
    rating === undefined ? otherwise : rating ? 'High' : 'Low';
  return {
    ...record,
    valence: label(diary?.valence, record.valence),
    arousal: label(diary?.arousal, record.arousal),
  };
}

function diaryOf(row: Row): Diary {
  const felt = (name: string): boolean => numberOf(row, name) === 1;
  const pleasant = felt('HAPPY') || felt('RESTED/RELAXED');
  const unpleasant = felt('SAD') || felt('TENSE/ANXIOUS');
  const activated = felt('ALERT') || felt('TENSE/ANXIOUS');
  const calm = felt('TIRED') || felt('RESTED/RELAXED');
  return {
    session: sessionOf(row),
    valence: pleasant === unpleasant ? undefined : pleasant,
    arousal: activated === calm ? undefined : activated,
  };
}

/** A daily summary as a session: one value for each series, sleep in minutes, no stages. */
function sessionOf(row: Row): Session {
  const single = (name: string, low: number, high: number): number[] => {
    const value = numberOf(row, name);
    return isWithin(value, low, high) ? [Math.round(value * 10) / 10] : [];
  };
  const minutes = (name: string): number | null => {
    const value = numberOf(row, name);
    return isWithin(value, 0, 1_440) ? Math.round(value) * 60 : null;
  };
  const gender = row.get('gender');
  return {
    HR_day_1h: single('bpm', 30, 200),
    RR_day_1h: [],
    HR_night: single('nremhr', 30, 120),
    RR_night: single('full_sleep_breathing_rate', 5, 30),
    sleepTimeSeconds: minutes('minutesAsleep'),
    awakeSleepSeconds: minutes('minutesAwake'),
    // The study gives age in two bands only.
    age: row.get('age') === '<30' ? 26 : row.get('age') === '>=30' ? 36 : null,
    sex: gender === 'MALE' ? 'M' : gender === 'FEMALE' ? 'F' : null,
  };
}
