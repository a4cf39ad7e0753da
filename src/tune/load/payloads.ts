import { seededRandom, type Random } from '../../base/random.js';
import { PAST_MAX } from '#rules/fields.js';
import type { PredictionRequestBody, ScoreRecord, Session } from '../../contract/request.js';

/**
 * The bodies that every bench sends. `baseline`: one session of 42 day and 220 night samples per signal, some 2.8 KB.
 * `history`: six such sessions and five past targets, some 17.5 KB. Levels, noise and number formats follow the
 * training cohort; the same seed gives the same bytes.
 */
export const PAYLOADS = ['baseline', 'history'] as const;
export type PayloadName = (typeof PAYLOADS)[number];

const DAY_SAMPLES = 42;
const NIGHT_SAMPLES = 220;
/** Enough different bodies that branch prediction and caches can't learn them. */
const VARIANTS = 16;
const SEED = 20_240_229;

/** The bodies of a payload, each for a different person, as text. */
export function bodiesOf(payload: PayloadName, variants: number = VARIANTS): readonly string[] {
  return requestsOf(payload, variants).map((request) => JSON.stringify(request));
}

export function requestsOf(payload: PayloadName, variants: number = VARIANTS): PredictionRequestBody[] {
  return Array.from({ length: variants }, (_, variant) => {
    const draw = new Draw(SEED + variant * 2 + PAYLOADS.indexOf(payload));
    const person = personOf(draw);
    const current_session = sessionOf(person, draw);
    if (payload === 'baseline') return { current_session };
    const past_sessions = Array.from({ length: PAST_MAX }, () => sessionOf(person, draw));
    const past_targets = Array.from({ length: PAST_MAX }, () => targetOf(draw));
    return { current_session, past_sessions, past_targets };
  });
}

/** Draws random values for the payloads. */
class Draw {
  private readonly random: Random;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  uniform(low = 0, high = 1): number {
    return low + (high - low) * this.random();
  }

  /** Approximately normal: the sum of twelve uniforms. */
  normal(mean: number, sd: number): number {
    let sum = -6;
    for (let term = 0; term < 12; term++) sum += this.uniform();
    return mean + sd * sum;
  }
}

interface Person {
  readonly age: number;
  readonly heightCm: number;
  readonly weightKg: number;
  readonly sex: 'M' | 'F';
  readonly restingHr: number;
  readonly nightRr: number;
  /** How the device's app writes shares: percent points or fractions. */
  readonly shareUnit: 1 | 100;
}

function personOf(draw: Draw): Person {
  return {
    age: Math.round(draw.uniform(18, 85)),
    heightCm: Math.round(draw.normal(169, 9)),
    weightKg: round(draw.normal(77, 13), 1),
    sex: draw.uniform() < 0.5 ? 'M' : 'F',
    restingHr: draw.normal(65, 7),
    nightRr: draw.normal(15.4, 1.8),
    shareUnit: draw.uniform() < 0.5 ? 1 : 100,
  };
}

function sessionOf(person: Person, draw: Draw): Session {
  const { age, heightCm, weightKg, sex, restingHr, nightRr, shareUnit } = person;
  const asleepS = 60 * Math.round(60 * draw.normal(6.8, 0.8));
  const deepSleepSeconds = 60 * Math.round((asleepS / 60) * draw.normal(0.16, 0.02));
  const remSleepSeconds = 60 * Math.round((asleepS / 60) * draw.normal(0.21, 0.02));
  const lightSleepSeconds = asleepS - deepSleepSeconds - remSleepSeconds;
  const share = (stageS: number): number => round((shareUnit * stageS) / asleepS, 3);
  return {
    HR_day_1h: series(draw, DAY_SAMPLES, restingHr + draw.normal(11, 3), 6),
    RR_day_1h: series(draw, DAY_SAMPLES, nightRr + draw.normal(0.6, 0.8), 1.9),
    HR_night: series(draw, NIGHT_SAMPLES, restingHr + draw.normal(-3, 2), 3.5),
    RR_night: series(draw, NIGHT_SAMPLES, nightRr + draw.normal(0, 0.5), 1.1),
    sleepTimeSeconds: asleepS,
    deepSleepSeconds,
    remSleepSeconds,
    lightSleepSeconds,
    awakeSleepSeconds: 60 * Math.round(draw.uniform(10, 90)),
    deepPercentage: share(deepSleepSeconds),
    remPercentage: share(remSleepSeconds),
    lightPercentage: share(lightSleepSeconds),
    age,
    height_cm: heightCm,
    weight_kg: weightKg,
    sex,
  };
}

/**
 * A level with slow drift and fast noise, in tenths, as averages over a minute are, heart rates included. Whole beats
 * would make the bodies a sixth shorter than those that the performance goals are set for.
 */
function series(draw: Draw, length: number, level: number, spread: number): number[] {
  let slow = 0;
  return Array.from({ length }, () => {
    slow = 0.85 * slow + draw.normal(0, 0.5 * spread);
    return round(Math.max(5, level + slow + draw.normal(0, 0.4 * spread)), 1);
  });
}

function targetOf(draw: Draw): ScoreRecord {
  const score = (): number => round(Math.min(100, Math.max(0, draw.normal(50, 20))), 2);
  const [attention, memory, reasoning, stress] = [score(), score(), score(), score()] as const;
  return {
    C_SCORE: round((attention + memory + reasoning) / 3, 2),
    attention,
    memory,
    reasoning,
    stress,
    valence: draw.uniform() < 0.5 ? 'Low' : 'High',
    arousal: draw.uniform() < 0.5 ? 'Low' : 'High',
  };
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
