import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import { Life } from './cohort/day.js';
import { Wearer } from './cohort/devices.js';
import { parameters } from './cohort/parameters.js';
import { drawPerson } from './cohort/person.js';
import { Random } from './cohort/random.js';
import { Sensor } from './cohort/sensor.js';
import { sessionOf } from './cohort/session.js';
import { STREAM } from './cohort/streams.js';
import { recordOf, type ServedModel } from './served.js';

interface Case {
  readonly name: string;
  readonly request: PredictionRequestBody;
}

const SEED = 7;
/** Series in a golden file are short: they test the arithmetic, not the reader. */
const THIN = 8;

/** Requests in all forms of the contract; past targets are the model's own scores. */
export async function goldenRequests(model: ServedModel): Promise<Case[]> {
  const sessions = syntheticWeek();
  const [first, second] = sessions;
  const current = sessions.at(-1);
  if (first === undefined || second === undefined || current === undefined) throw new Error('no sessions');
  const targets = await rollOut(model, sessions);
  const past = sessions.slice(0, 5);
  const surprising: ScoreRecord = {
    C_SCORE: 82,
    attention: 85,
    memory: 78,
    reasoning: 82,
    stress: 20,
    valence: 'High',
    arousal: 'Low',
  };
  return [
    { name: 'one full session', request: { current_session: current } },
    { name: 'nothing known', request: { current_session: {} } },
    { name: 'sleep and person only', request: { current_session: withoutSeries(current) } },
    {
      name: 'shares as fractions, sleep time with awake time',
      request: { current_session: inFractions(current) },
    },
    { name: 'sex withheld', request: { current_session: { ...current, sex: null } } },
    {
      name: 'one past session',
      request: { current_session: second, past_sessions: [first], past_targets: targets.slice(0, 1) },
    },
    {
      name: 'five past sessions',
      request: { current_session: current, past_sessions: past, past_targets: targets.slice(0, 5) },
    },
    {
      name: 'five past sessions with measured targets',
      request: { current_session: current, past_sessions: past, past_targets: past.map(() => surprising) },
    },
    {
      name: 'history for an empty session',
      request: { current_session: {}, past_sessions: past, past_targets: targets.slice(0, 5) },
    },
  ];
}

/** Six days of the first person of the cohort's stream whose device delivers everything every day. */
function syntheticWeek(): Session[] {
  const p = parameters();
  const sensor = new Sensor(SEED, p);
  for (let id = 0; ; id++) {
    const person = drawPerson(id, new Random(SEED, id, STREAM.traits), p);
    const life = new Life(person, SEED, p);
    const wearer = new Wearer(person, SEED, p);
    const week = Array.from({ length: 6 }, (_, day) =>
      sessionOf(sensor.record(person, life.next(), wearer.on(day)), THIN),
    );
    const isComplete = week.every(
      ({ HR_day_1h, RR_day_1h, HR_night, RR_night }) =>
        HR_day_1h?.length && RR_day_1h?.length && HR_night?.length && (RR_night?.length ?? 0) > 1,
    );
    if (isComplete) return week;
  }
}

async function rollOut(model: ServedModel, sessions: readonly Session[]): Promise<ScoreRecord[]> {
  const targets: ScoreRecord[] = [];
  for (const [index, current] of sessions.entries()) {
    const past = { past_sessions: sessions.slice(0, index), past_targets: [...targets] };
    targets.push(recordOf(await model.score({ current_session: current, ...(index > 0 ? past : {}) })));
  }
  return targets;
}

function withoutSeries(session: Session): Session {
  return { ...session, HR_day_1h: [], RR_day_1h: [], HR_night: [], RR_night: [] };
}

function inFractions(session: Session): Session {
  const { deepSleepSeconds = 0, remSleepSeconds = 0, lightSleepSeconds = 0, awakeSleepSeconds = 0 } = session;
  const asleepS = (deepSleepSeconds ?? 0) + (remSleepSeconds ?? 0) + (lightSleepSeconds ?? 0);
  return {
    ...session,
    sleepTimeSeconds: asleepS + (awakeSleepSeconds ?? 0),
    deepPercentage: (deepSleepSeconds ?? 0) / asleepS,
    remPercentage: (remSleepSeconds ?? 0) / asleepS,
    lightPercentage: (lightSleepSeconds ?? 0) / asleepS,
  };
}
