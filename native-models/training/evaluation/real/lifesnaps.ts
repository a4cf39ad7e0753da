import { join } from 'node:path';
import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { PAST_MAX } from '#rules/fields.js';
import { recordOf, type ServedModel } from '../../served.js';
import { LABELS, SCORES } from '../context.js';
import { follow, scoreAfter } from '../requests.js';
import { demand, fixed, interval, isWithin } from '../section.js';
import { auc, bootstrap, mean, quantile, type Estimate } from '../statistics.js';
import { asWorn } from './asWorn.js';
import { groupRows, numberOf, readCsv, type Row } from './csv.js';
import type { RealFinding } from './validationData.js';

/** LifeSnaps (Yfantidou et al. 2022): 48 people, months of daily summaries of a wrist device, mood diaries. */
export const LIFESNAPS = 'lifesnaps/daily.csv';
/** Ratings of past days must rank the days better than biometrics do, by so much. */
const DOMINANCE = 0.05;
/** The first diary days have too few days before them to show an effect of history. */
const DIARY_DAYS_LEAST = 3;

type Label = (typeof LABELS)[number];

interface Day {
  readonly session: Session;
  readonly asleepMin: number;
  readonly valence: boolean | undefined;
  readonly arousal: boolean | undefined;
}

type Way = 'alone' | 'own' | 'rated';

interface Judged {
  readonly person: number;
  readonly day: Day;
  readonly past: readonly Day[];
  readonly scores: Readonly<Record<Way, Float32Array>>;
}

/** Whether scores of real days lie where they should, and go with the mood of the diaries. */
export async function lifesnaps(folder: string, model: ServedModel): Promise<RealFinding | undefined> {
  const rows = readCsv(join(folder, LIFESNAPS));
  if (rows === undefined) return undefined;
  const lives = [...groupRows(rows, 'id').values()].map((days) => days.map(dayOf));
  const levels: Float32Array[] = [];
  for (const life of lives) levels.push(...(await follow(model, life.filter(isRecorded).map(({ session }) => session)))); // prettier-ignore
  const judged: Judged[] = [];
  for (const [person, days] of lives.entries()) judged.push(...(await judge(days, person, model)));
  const areas = LABELS.map((name) => ({ name, of: areasOf(name, judged, lives.length) }));
  const medians = SCORES.map((_, k) => quantile(levels.map((scores) => scores[1 + k] ?? NaN), 0.5)); // prettier-ignore
  return {
    demands: [
      demand(
        'LifeSnaps: the median of each score over the real days lies between 45 and 55',
        SCORES.map((name, k) => `${name} ${fixed(medians[k] ?? NaN, 1)}`).join(', '),
        medians.every((value) => isWithin(value, 45, 55)),
        'always 50 passes: this is about level, not skill',
      ),
      ...areas.flatMap(({ name, of: { own, minutes, rated, alone, ratings } }) => [
        demand(
          `LifeSnaps ${name}: five sessions with own scores are better than a coin (interval above 0.5)`,
          interval(own, 2),
          own.low > 0.5,
          `coin 0.50; minutes asleep ${interval(minutes, 2)}`,
        ),
        demand(
          `LifeSnaps ${name}: past ratings as targets dominate (AUC at least ${DOMINANCE} above that of biometrics)`,
          `${interval(rated, 2)} against ${interval(alone, 2)}`,
          rated.value >= alone.value + DOMINANCE,
          `coin +0.00; the plain mean of the same ratings, no network, ${fixed(ratings.value - alone.value, 2)} above`,
        ),
      ]),
    ],
    tables: [],
  };
}

function isRecorded({ session }: Day): boolean {
  return (session.HR_night?.length ?? 0) > 0 || typeof session.sleepTimeSeconds === 'number';
}

/** The recorded days of each person, as sessions, in their order. */
export function lifesnapsSessions(people: ReadonlyMap<string, readonly Row[]>): Session[][] {
  return [...people.values()].map((rows) =>
    rows
      .map(dayOf)
      .filter(isRecorded)
      .map(({ session }) => session),
  );
}

/** The days with a rating, scored three ways. */
async function judge(life: readonly Day[], person: number, model: ServedModel): Promise<Judged[]> {
  const days = life.filter(({ valence, arousal }) => valence !== undefined || arousal !== undefined);
  const own: ScoreRecord[] = [];
  const judged: Judged[] = [];
  for (const [index, day] of days.entries()) {
    const past = days.slice(Math.max(0, index - PAST_MAX), index);
    const recent = own.slice(-PAST_MAX);
    const sessions = past.map(({ session }) => session);
    const alone = await scoreAfter(model, day.session, [], []);
    const scored = await scoreAfter(model, day.session, sessions, recent);
    const ratings = recent.map((record, at) => rate(record, past[at]));
    const rated = await scoreAfter(model, day.session, sessions, ratings);
    own.push(recordOf(scored));
    if (index >= DIARY_DAYS_LEAST) judged.push({ person, day, past, scores: { alone, own: scored, rated } });
  }
  return judged;
}

/** The person's own rating in place of the network's label, where there is one. */
function rate(record: ScoreRecord, day: Day | undefined): ScoreRecord {
  const label = (rating: boolean | undefined, otherwise: 'Low' | 'High'): 'Low' | 'High' =>
    rating === undefined ? otherwise : rating ? 'High' : 'Low';
  return {
    ...record,
    valence: label(day?.valence, record.valence),
    arousal: label(day?.arousal, record.arousal),
  };
}

type Areas = Readonly<Record<Way | 'ratings' | 'minutes', Estimate>>;

function areasOf(name: Label, judged: readonly Judged[], people: number): Areas {
  const known = judged.filter(
    ({ day, past }) => day[name] !== undefined && past.some((earlier) => earlier[name] !== undefined),
  );
  const byPerson = Array.from({ length: people }, (_, id) => known.filter(({ person }) => person === id));
  const area = (scoreOf: (one: Judged) => number): Estimate =>
    bootstrap(people, (chosen) => {
      const days = [...chosen]
        .flatMap((id) => byPerson[id] ?? [])
        .filter((day) => Number.isFinite(scoreOf(day)));
      return auc(days.map(scoreOf), days.map(({ day }) => (day[name] === true ? 1 : 0))); // prettier-ignore
    });
  const column = name === 'valence' ? 5 : 6;
  const by = (way: Way): Estimate => area(({ scores }) => scores[way][column] ?? NaN);
  return {
    alone: by('alone'),
    own: by('own'),
    rated: by('rated'),
    minutes: area(({ day }) => day.asleepMin),
    ratings: area(({ past }) =>
      mean(past.flatMap((day) => (day[name] === undefined ? [] : [day[name] ? 1 : 0]))),
    ),
  };
}

/** High valence is happy or rested, Low is sad or tense; High arousal is alert or tense, Low is tired or rested. */
function dayOf(row: Row): Day {
  const felt = (name: string): boolean => numberOf(row, name) === 1;
  const pleasant = felt('HAPPY') || felt('RESTED/RELAXED');
  const unpleasant = felt('SAD') || felt('TENSE/ANXIOUS');
  const activated = felt('ALERT') || felt('TENSE/ANXIOUS');
  const calm = felt('TIRED') || felt('RESTED/RELAXED');
  return {
    session: sessionOf(row),
    asleepMin: within(row, 'minutesAsleep', 0, 1_440),
    valence: pleasant === unpleasant ? undefined : pleasant,
    arousal: activated === calm ? undefined : activated,
  };
}

/** A daily summary as a session: series about its levels, sleep in minutes, no stages. */
function sessionOf(row: Row): Session {
  const gender = row.get('gender');
  const worn = asWorn({
    dayHr: within(row, 'bpm', 30, 200),
    nightHr: within(row, 'nremhr', 30, 120),
    nightRr: within(row, 'full_sleep_breathing_rate', 5, 30),
    asleepH: within(row, 'minutesAsleep', 0, 1_440) / 60,
    awakeH: within(row, 'minutesAwake', 0, 1_440) / 60,
  });
  return {
    ...worn,
    // The study gives age in two bands only.
    age: row.get('age') === '<30' ? 26 : row.get('age') === '>=30' ? 36 : null,
    sex: gender === 'MALE' ? 'M' : gender === 'FEMALE' ? 'F' : null,
  };
}

function within(row: Row, name: string, low: number, high: number): number {
  const value = numberOf(row, name);
  return isWithin(value, low, high) ? value : NaN;
}
