import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import type { World, Plan } from '../cohort/population.js';
import { sessionOf } from '../cohort/session.js';
import type { ScoreAll } from './former.js';
import { OTHER_DEVICES, seenBy } from './otherDevices.js';
import { signed, type Table } from './section.js';
import { mean } from './statistics.js';

/**
 * How much each cause moves a score, in a few figures, for the previous version and for this one: the same people,
 * nights and requests, scored by each version's own code.
 */
const PEOPLE = 150;
const DAYS = 6;
const LAST = DAYS - 1;
type Score = 'C_SCORE' | 'attention' | 'memory' | 'stress';

/** Sessions of people, day by day. */
type Lives = readonly (readonly Session[])[];

interface Figure {
  readonly name: string;
  readonly scores: readonly Score[];
  readonly from: Lives;
  readonly to: Lives;
}

export async function headFigures(world: World, versions: ReadonlyMap<string, ScoreAll>): Promise<Table> {
  const found = new Map<string, readonly string[]>();
  const figures = figuresOf(world);
  for (const [version, scoreAll] of versions) found.set(version, await measure(figures, scoreAll));
  return {
    caption: `What moves a score by how much: mean change in points of ${PEOPLE} people with five sessions, the same requests for both versions`,
    header: ['', 'scores', ...versions.keys()],
    rows: figures.map(({ name, scores }, index) => [
      name,
      scores.join(' / '),
      ...[...versions.keys()].map((version) => found.get(version)?.[index] ?? ''),
    ]),
  };
}

async function measure(figures: readonly Figure[], scoreAll: ScoreAll): Promise<string[]> {
  const known = new Map<Lives, readonly ScoreRecord[]>();
  const lastOf = async (lives: Lives): Promise<readonly ScoreRecord[]> => {
    const last = known.get(lives) ?? (await followAll(lives, scoreAll)).at(-1) ?? [];
    known.set(lives, last);
    return last;
  };
  const texts: string[] = [];
  for (const { scores, from, to } of figures) {
    const [before, after] = [await lastOf(from), await lastOf(to)];
    const change = (score: Score): number =>
      mean(after.map((record, person) => record[score] - (before[person]?.[score] ?? NaN)));
    texts.push(scores.map((score) => signed(change(score), 1)).join(' / '));
  }
  return texts;
}

/** Scores everybody's days in order, feeding each day's scores back; [day][person]. */
export async function followAll(lives: Lives, scoreAll: ScoreAll): Promise<ScoreRecord[][]> {
  const days: ScoreRecord[][] = [];
  const length = lives[0]?.length ?? 0;
  for (let day = 0; day < length; day++) {
    const first = Math.max(0, day - 5);
    const bodies = lives.map((sessions, person) => {
      const past_sessions = sessions.slice(first, day);
      const past_targets = days.slice(first).map((scores) => recordAt(scores, person));
      return { current_session: sessions[day] ?? {}, ...(day > 0 ? { past_sessions, past_targets } : {}) };
    });
    days.push(await scoreAll(bodies));
  }
  return days;
}

function recordAt(scores: readonly ScoreRecord[], person: number): ScoreRecord {
  const record = scores[person];
  if (record === undefined) throw new Error(`no scores of person ${person}`);
  const { C_SCORE, attention, memory, reasoning, stress, valence, arousal } = record;
  return { C_SCORE, attention, memory, reasoning, stress, valence, arousal };
}

/** The sessions of a simulation as callers send them. */
export function livesOf(world: World, people: number, days: number, plan: Plan): Session[][] {
  const lives = Array.from({ length: people }, (): Session[] => []);
  world.simulate(people, days, {
    ...plan,
    look: (recording, index) => lives[index]?.push(sessionOf(recording)),
  });
  return lives;
}

const FOUR: readonly Score[] = ['C_SCORE', 'attention', 'memory', 'stress'];
const THREE: readonly Score[] = ['attention', 'memory', 'stress'];

function figuresOf(world: World): Figure[] {
  const lives = (plan: Plan): Lives => livesOf(world, PEOPLE, DAYS, { isComplete: true, ...plan });
  const worn = (name: string): Lives => lives(seenBy(OTHER_DEVICES.find((other) => other.name === name)));
  const plain = lives(seenBy());
  const usual = lives({});
  const asleep = (asleepH: number): Lives => lives({ intervene: (day) => (day === LAST ? { asleepH } : {}) });
  const eachNight = (asleepH: number): Lives => lives({ intervene: (day) => (day > 0 ? { asleepH } : {}) });
  const averages = everyDay(plain, averaged);
  const sleepless = asleep(0);
  return [
    { name: 'moving average of 5 min', scores: THREE, from: plain, to: worn('moving average of 5 min') },
    { name: 'moving average of 15 min', scores: THREE, from: plain, to: worn('moving average of 15 min') },
    {
      name: 'one sample of 190 bpm in each night',
      scores: THREE,
      from: plain,
      to: everyDay(plain, withWild),
    },
    { name: 'ten times as dense', scores: THREE, from: plain, to: worn('ten times as dense') },
    { name: 'one average a series', scores: THREE, from: plain, to: averages },
    { name: 'the same, on the day of the change', scores: THREE, from: plain, to: lastDay(plain, averages) },
    ...[22, 45, 70, 80].map((age) => sexWithheld(lives, age)),
    { name: 'a night without sleep, against the usual one', scores: FOUR, from: usual, to: sleepless },
    { name: 'a night without sleep, against one of an hour', scores: FOUR, from: asleep(1), to: sleepless },
    { name: '12 h of sleep, against 8 h', scores: FOUR, from: asleep(8), to: asleep(12) },
    { name: 'five nights of 4 h, against 8 h', scores: FOUR, from: eachNight(8), to: eachNight(4) },
    { name: 'five nights without sleep, against usual ones', scores: FOUR, from: usual, to: eachNight(0) },
  ];
}

function sexWithheld(lives: (plan: Plan) => Lives, age: number): Figure {
  const from = lives({ parameters: { ageMin: age - 0.49, ageMax: age + 0.49 } });
  const to = everyDay(from, (session) => ({ ...session, sex: null }));
  return { name: `sex withheld at ${age}`, scores: FOUR, from, to };
}

function everyDay(lives: Lives, change: (session: Session) => Session): Lives {
  return lives.map((sessions) => sessions.map(change));
}

function lastDay(past: Lives, last: Lives): Lives {
  return past.map((sessions, person) => [...sessions.slice(0, LAST), last[person]?.[LAST] ?? {}]);
}

function averaged(session: Session): Session {
  const one = (series: readonly number[] | null | undefined): number[] =>
    series?.length ? [Math.round(10 * mean(series)) / 10] : [];
  return {
    ...session,
    HR_day_1h: one(session.HR_day_1h),
    RR_day_1h: one(session.RR_day_1h),
    HR_night: one(session.HR_night),
    RR_night: one(session.RR_night),
  };
}

function withWild(session: Session): Session {
  const night = session.HR_night ?? [];
  return night.length === 0
    ? session
    : { ...session, HR_night: night.with(Math.floor(night.length / 3), 190) };
}
