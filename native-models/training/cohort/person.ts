import type { Parameters } from './parameters.js';
import type { Random } from './random.js';

/** One person of the cohort: what does not change from day to day. */
export interface Person {
  readonly id: number;
  readonly age: number;
  readonly sex: 'M' | 'F';
  readonly heightCm: number;
  readonly weightKg: number;
  readonly bmi: number;
  /** Vagal tone, in SD. */
  readonly vagal: number;
  readonly restingHr: number;
  /** By age. */
  readonly maximalHr: number;
  /** Resting heart rate relative to its expectation for age, sex and BMI, in SD. */
  readonly restingHrZ: number;
  readonly sleepingHr: number;
  readonly dayHr: number;
  readonly dayHrWithin: number;
  readonly nightHrWithin: number;
  readonly nightRr: number;
  readonly nightRrSd: number;
  readonly dayRr: number;
  readonly sleepH: number;
  /** Habitual sleep against age and sex, in hours. */
  readonly sleepAgainstGroupH: number;
  readonly needH: number;
  readonly efficiency: number;
  /** Habitual efficiency against age, in SD. */
  readonly efficiencyZ: number;
  readonly deepShare: number;
  readonly remShare: number;
  /** Probability of alcohol in the evening, and of a nap by day. */
  readonly drinks: number;
  readonly naps: number;
}

const MIDDLE_AGE = 45;

export function drawPerson(id: number, random: Random, p: Parameters): Person {
  const age = drawAge(random, p);
  const sex = random.chance(0.5) ? 'M' : 'F';
  const woman = sex === 'F' ? 1 : -1;
  const heightCm = random.normal(sex === 'M' ? p.heightMen : p.heightWomen, p.heightSd);
  const bmi = clamp(p.bmiMedian * Math.exp(random.normal(0, p.bmiLnSd)), 16, 55);
  const vagal = random.normal();
  const over = Math.max(0, bmi - 25);
  const restingOwn = p.restingHrVagal * vagal + random.normal(0, Math.sqrt(p.restingHrSd ** 2 - p.restingHrVagal ** 2)); // prettier-ignore
  const restingHr = clamp(
    p.restingHr + 1 + p.restingHrSex * woman + p.restingHrAge * (age - p.restingHrPeak) ** 2 + p.restingHrBmi * (over - 2.4) + restingOwn, // prettier-ignore
    40,
    109,
  );
  const sleepingHr = restingHr + random.normal(p.sleepingHrOffset, p.sleepingHrOffsetSd);
  const nightRr = clamp(
    p.nightRr + p.nightRrHr * (sleepingHr - 61) + p.nightRrBmi * Math.min(200, (bmi - 25) ** 2) - 0.2 + p.nightRrAge * (age - MIDDLE_AGE) + (age < 50 ? (p.nightRrWomen / 2) * woman : 0) + random.normal(0, p.nightRrSd), // prettier-ignore
    9,
    26,
  );
  const decades = (age - MIDDLE_AGE) / 10;
  const needOwnH = p.sleepBmiH * (over - 2.4) + random.normal(0, p.sleepSdH);
  // Some sleep long by habit without needing more than others.
  const sleepOwnH = needOwnH + (random.chance(p.longSleeper) ? 2 * p.longSleeperH * random.uniform() : 0);
  const efficiencyZ = random.normal();
  return {
    id,
    age,
    sex,
    heightCm,
    weightKg: bmi * (heightCm / 100) ** 2,
    bmi,
    vagal,
    restingHr,
    maximalHr: p.maximalHr + p.maximalHrAge * age,
    restingHrZ: restingOwn / p.restingHrSd,
    sleepingHr,
    dayHr: restingHr + random.normal(p.dayHrOffset, p.dayHrOffsetSd),
    dayHrWithin: p.dayHrWithin * Math.exp(random.normal(p.withinVagal * vagal, p.withinLnSd)),
    nightHrWithin: p.nightHrWithin * Math.exp(random.normal(p.withinVagal * vagal, p.withinLnSd)),
    nightRr,
    nightRrSd:
      nightRr * p.nightRrCv * Math.exp(p.nightRrCvAge * (age - 22) + random.normal(0, p.nightRrCvLnSd)),
    dayRr: clamp(0.5 * p.dayRr + 0.5 * nightRr + 0.3 + random.normal(0, p.dayRrSd * 0.85), 9, 28),
    sleepH: clamp(p.sleepH + p.sleepWomenH * woman + p.sleepDecadeH * decades + sleepOwnH, 4, 12),
    sleepAgainstGroupH: sleepOwnH,
    needH: p.needH + p.needHabit * needOwnH + random.normal(0, p.needSdH) + p.sleepDecadeH * decades,
    efficiency: clamp(p.efficiency + p.efficiencyDecade * decades + p.efficiencySd * efficiencyZ, 0.6, 0.97),
    efficiencyZ,
    deepShare: clamp(p.deepShare + p.deepDecade * decades + p.deepWomen * woman + random.normal(0, p.deepSd), 0.03, 0.32), // prettier-ignore
    remShare: clamp(p.remShare + p.remDecade * decades + random.normal(0, p.remSd), 0.06, 0.36),
    drinks: random.chance(p.drinkers) ? random.uniform() * p.drinkingMax : 0,
    naps: 2 * p.napping * random.uniform(),
  };
}

function drawAge(random: Random, p: Parameters): number {
  for (;;) {
    const age = random.normal(p.ageMean, p.ageSd);
    if (age >= p.ageMin && age <= p.ageMax) return Math.round(age);
  }
}

export function clamp(value: number, low: number, high: number): number {
  return value < low ? low : value > high ? high : value;
}
