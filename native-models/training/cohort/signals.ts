import type { Day } from './day.js';
import type { Parameters } from './parameters.js';
import type { Person } from './person.js';
import type { Random } from './random.js';

/** The true course of a heart or breathing rate: one value every `stepMin` minutes. */
export interface Signal {
  readonly stepMin: number;
  readonly values: Float64Array;
}

const CYCLE_MIN = 95;
const BIN_MIN = 5;
/** Correlation time of the fast noise: dense samples of a device are not independent. */
const FAST_MIN = 0.5;
const HOUR_MIN = 60;

const AWAKE = 0;
const REM = 1;
const LIGHT = 2;
const DEEP = 3;

/**
 * The sleep stages of a night, in cycles: deep sleep early in the cycle and the night, REM late, awake in scattered
 * bouts.
 */
export class Stages {
  readonly durationMin: number;
  private readonly byBin: Uint8Array;
  /** How much faster the heart beats in each bin of turning and getting up. */
  private readonly surges: Float64Array;
  private readonly shares = [0, 0, 0, 0];

  constructor(day: Day, p: Parameters, random: Random) {
    this.durationMin = (day.asleepH + day.awakeH) * 60;
    const bins = Math.max(4, Math.round(this.durationMin / BIN_MIN));
    this.byBin = new Uint8Array(bins);
    this.surges = new Float64Array(bins);
    const cycles = Math.max(1, this.durationMin / CYCLE_MIN);
    const asleepShare = day.asleepH / (day.asleepH + day.awakeH);
    const phase = random.uniform() * 0.2;
    for (let bin = 0; bin < bins; bin++) {
      const position = ((bin + 0.5) / bins) * cycles;
      const inCycle = (position + phase) % 1;
      const late = position / cycles;
      const deep = day.deepShare * 2 * (1 - late);
      const rem = day.remShare * 2 * late;
      let stage = LIGHT;
      if (inCycle > 0.15 && inCycle < 0.15 + deep) stage = DEEP;
      else if (inCycle > 1 - rem) stage = REM;
      const [waking, moving, surge] = [random.uniform(), random.uniform(), random.normal()];
      if (waking > asleepShare) {
        stage = AWAKE;
        if (moving < p.wakeMoved) this.surges[bin] = Math.max(0, p.wakeMovedHr + p.wakeMovedHrSd * surge);
      }
      this.byBin[bin] = stage;
      this.shares[stage] = (this.shares[stage] ?? 0) + 1 / bins;
    }
  }

  binAt(minute: number): number {
    return Math.min(this.byBin.length - 1, Math.floor((minute / this.durationMin) * this.byBin.length));
  }

  stageOf(bin: number): number {
    return this.byBin[bin] ?? LIGHT;
  }

  surgeOf(bin: number): number {
    return this.surges[bin] ?? 0;
  }

  /** Mean of a ratio by stage over the night. */
  meanOf(ratios: readonly number[]): number {
    return ratios.reduce((sum, ratio, stage) => sum + ratio * (this.shares[stage] ?? 0), 0);
  }
}

/** The noise of a signal: a slow part, with a correlation time of minutes, and a fast one. */
interface Noise {
  readonly sd: number;
  readonly slow: number;
  readonly fast: number;
  readonly memory: number;
}

/** The hour before the prediction. */
export function dayHeart(person: Person, day: Day, p: Parameters, stepMin: number, random: Random): Signal {
  const sd = person.dayHrWithin * Math.exp(random.normal(0, 0.25));
  const level = restHr(person, day);
  const noise = { sd, slow: 0.92, fast: 0.39, memory: 0.85 };
  return walk(HOUR_MIN, stepMin, noise, random, (atMin) => level + strain(person, day, p, atMin));
}

export function dayBreath(person: Person, day: Day, p: Parameters, stepMin: number, random: Random): Signal {
  const level = person.dayRr + day.dayRrDeviation;
  const noise = { sd: p.dayRrWithin, slow: 0.92, fast: 0.39, memory: 0.7 };
  return walk(
    HOUR_MIN,
    stepMin,
    noise,
    random,
    (atMin) => level + p.effortRr * strain(person, day, p, atMin),
  );
}

function restHr(person: Person, day: Day): number {
  return person.dayHr + day.dayHrDeviation;
}

/** How much faster than at rest the heart beats during an effort and the recovery, in bpm. */
function strain(person: Person, day: Day, p: Parameters, atMin: number): number {
  const { effort } = day;
  if (effort === undefined || atMin < effort.fromMin) return 0;
  const above = Math.max(0, effort.hr - restHr(person, day));
  return atMin < effort.toMin ? above : above * Math.exp((effort.toMin - atMin) / p.effortRecoveryMin);
}

/** Levels are night means without the surges of waking, so the stages' mean ratio is divided out. */
export function nightHeart(
  person: Person,
  day: Day,
  stages: Stages,
  p: Parameters,
  stepMin: number,
  random: Random,
): Signal {
  // A person awake in bed all night has a resting heart rate, not a sleeping one.
  const own = day.asleepH === 0 ? person.restingHr : person.sleepingHr;
  const level = own + day.nightHrDeviation;
  const scale = level / stages.meanOf([p.wakeHr, 1, p.lightHr, p.deepHr]);
  const ratios = [p.wakeHr, 1, p.lightHr, p.deepHr];
  const fall = p.overnightFall + day.alcoholHr;
  const noise = { sd: person.nightHrWithin, slow: 0.7, fast: 0.7, memory: 0.7 };
  return walk(stages.durationMin, stepMin, noise, random, (atMin) => {
    const bin = stages.binAt(atMin);
    const trend = fall * (0.5 - atMin / stages.durationMin);
    return scale * (ratios[stages.stageOf(bin)] ?? 1) + stages.surgeOf(bin) + trend;
  });
}

export function nightBreath(
  person: Person,
  day: Day,
  stages: Stages,
  p: Parameters,
  stepMin: number,
  random: Random,
): Signal {
  const level = person.nightRr + day.nightRrDeviation;
  const ratios = [p.wakeRr, 1, p.lightRr, p.deepRr];
  const scale = level / stages.meanOf(ratios);
  const noise = { sd: 0.055 * level, slow: 0.7, fast: 0.7, memory: 0.7 };
  return walk(stages.durationMin, stepMin, noise, random, (atMin) => scale * (ratios[stages.stageOf(stages.binAt(atMin))] ?? 1)); // prettier-ignore
}

function walk(
  durationMin: number,
  stepMin: number,
  { sd, slow, fast, memory }: Noise,
  random: Random,
  level: (atMin: number) => number,
): Signal {
  const values = new Float64Array(Math.max(1, Math.floor(durationMin / stepMin)));
  const [slowRho, fastRho] = [memory ** stepMin, Math.exp(-stepMin / FAST_MIN)];
  const [slowStep, fastStep] = [Math.sqrt(1 - slowRho ** 2), Math.sqrt(1 - fastRho ** 2)];
  let [slowly, quickly] = [random.normal(), random.normal()];
  for (let index = 0; index < values.length; index++) {
    values[index] = level((index + 0.5) * stepMin) + sd * (slow * slowly + fast * quickly);
    slowly = slowRho * slowly + slowStep * random.normal();
    quickly = fastRho * quickly + fastStep * random.normal();
  }
  return { stepMin, values };
}
