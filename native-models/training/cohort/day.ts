import { daytimeLapses, nextMorning, RESTED, type Homeostats } from './fatigue.js';
import type { Intervention } from './intervention.js';
import { drawNight } from './nights.js';
import type { Parameters } from './parameters.js';
import { clamp, type Person } from './person.js';
import { Random } from './random.js';
import { STREAM } from './streams.js';

/** The true state of a day, before any device measures it. */
export interface Day {
  readonly index: number;
  readonly asleepH: number;
  readonly awakeH: number;
  /** After the night, before the evening. */
  readonly napH: number;
  readonly deepShare: number;
  readonly remShare: number;
  /** Deep share relative to habit, in SD of the night-to-night spread. */
  readonly deepZ: number;
  /** Time awake at night beyond the person's habit, in hours; 0 in a night without an attempt to sleep. */
  readonly awakeAgainstHabitH: number;
  /** Weighted mean of the last week's time asleep, in hours. */
  readonly weekAsleepH: number;
  /** Last night, and the last week's mean, beyond the person's need: hours, at least 0. */
  readonly beyondNeedH: number;
  readonly weekBeyondNeedH: number;
  readonly lapses: number;
  readonly nightHrDeviation: number;
  /** The part of it due to alcohol, which is gone by the end of the night. */
  readonly alcoholHr: number;
  readonly dayHrDeviation: number;
  readonly nightRrDeviation: number;
  readonly dayRrDeviation: number;
  /** Effort in the hour before the prediction; most days have none. */
  readonly effort: Effort | undefined;
}

/** A walk, a climb or exercise: how fast the heart beats, and when within the hour. */
export interface Effort {
  readonly hr: number;
  readonly fromMin: number;
  readonly toMin: number;
}

/** Days before the simulation counts, for its state to settle. */
export const SETTLING_DAYS = 28;
const WEEK_MEMORY = 0.75;
/** The homeostats count sleep relative to the person's own need: eight hours are enough for the model's average. */
const MODEL_NEED_H = 8;
/** A fever below this is over. */
const FEVER_LEAST_C = 0.3;
const HOUR_MIN = 60;

/**
 * A person's life from day to day. Each day has its own random stream, so an intervention leaves later draws
 * unchanged.
 */
export class Life {
  private morning: Homeostats = RESTED;
  private tension = 0;
  private nightHr = 0;
  private isIll = false;
  /** Degrees above normal. */
  private feverC = 0;
  /** In a run of short nights. */
  private isShort = false;
  /** In a run of long ones. */
  private isLong = false;
  private weekAsleepH: number;
  private lastAsleepH: number;
  private lastNapH = 0;
  private index = -SETTLING_DAYS;
  private readonly random = new Random();
  private readonly moving = new Random();

  constructor(
    readonly person: Person,
    private readonly seed: number,
    private readonly p: Parameters,
  ) {
    this.weekAsleepH = person.sleepH;
    this.lastAsleepH = person.sleepH;
    for (let day = 0; day < SETTLING_DAYS; day++) this.next();
  }

  /** The night just past and the day after it. */
  next(intervention: Intervention = {}): Day {
    const { person, p, random } = this;
    random.reseed(this.seed, person.id, STREAM.days, this.index + SETTLING_DAYS);
    this.advanceStates();
    const alcohol = this.drawAlcohol();
    const night = this.sleepNight(intervention, alcohol);
    const need = person.needH;
    this.advanceSleep(night.asleepH);
    const napH = this.drawNap();
    this.lastNapH = napH;
    const lateH = random.normal(0, 0.7);
    const nightNoise = p.nightHrTension * this.tension + Math.sqrt(1 - p.nightHrTension ** 2) * this.nightHr;
    const ill = this.isIll ? 1 : 0;
    const sickHr = p.illnessHr * ill + p.feverHr * this.feverC;
    const sickRr = p.illnessRr * ill + p.feverRr * this.feverC;
    const alcoholHr = p.alcoholHr * alcohol;
    const rr = random.normal() * person.nightRrSd;
    const day: Day = {
      index: this.index,
      ...night,
      napH,
      weekAsleepH: this.weekAsleepH,
      beyondNeedH: Math.max(0, night.asleepH - need),
      weekBeyondNeedH: Math.max(0, this.weekAsleepH - need),
      lapses: daytimeLapses(this.morning, this.countedH(napH)),
      alcoholHr,
      nightHrDeviation:
        p.nightHrSd * nightNoise +
        p.lateNightHr * lateH +
        sickHr +
        alcoholHr +
        (intervention.addNightHr ?? 0),
      dayHrDeviation: p.dayHrSd * this.share(p.dayHrTension) + 0.7 * sickHr + (intervention.addDayHr ?? 0),
      nightRrDeviation: rr + sickRr + (intervention.addRr ?? 0),
      dayRrDeviation:
        p.dayRrDaySd * this.share(p.dayRrTension) + 0.5 * rr + sickRr + (intervention.addRr ?? 0),
      effort: this.drawEffort(),
    };
    this.index++;
    return day;
  }

  /** A standard normal variable, correlated with today's tension by `loading`. */
  private share(loading: number): number {
    return loading * this.tension + Math.sqrt(1 - loading ** 2) * this.random.normal();
  }

  private advanceStates(): void {
    const { p, random } = this;
    const rho = p.tensionPersistence;
    this.tension = rho * this.tension + Math.sqrt(1 - rho ** 2) * random.normal();
    const night = p.nightHrPersistence;
    this.nightHr = night * this.nightHr + Math.sqrt(1 - night ** 2) * random.normal();
    const turn = random.uniform();
    this.isIll = this.isIll ? turn > p.illnessEnd : turn < p.illnessStart;
    const shift = random.uniform();
    this.isShort = this.isShort ? shift > p.shortEnd : shift < p.shortStart;
    const leave = random.uniform();
    this.isLong = this.isLong ? leave > p.longEnd : leave < p.longStart;
    const [onset, height] = [random.uniform(), random.uniform()];
    const fallen = this.feverC * p.feverDay;
    this.feverC = onset < p.feverStart ? p.feverLeastC + height * (p.feverMostC - p.feverLeastC) : fallen;
    if (this.feverC < FEVER_LEAST_C) this.feverC = 0;
  }

  /** Doses of the evening before; one is a moderate evening. */
  private drawAlcohol(): number {
    const { person, p, random } = this;
    const [drinks, dose] = [random.uniform(), -Math.log(1 - random.uniform())];
    return drinks < person.drinks * (this.isFree() ? p.drinksFree : 1) ? Math.min(dose, 3) : 0;
  }

  private drawNap(): number {
    const { person, p, random } = this;
    const [naps, length] = [random.uniform(), random.normal()];
    const missedH = clamp(person.needH - this.lastAsleepH, 0, 4);
    const chance = person.naps * (1 + p.napMissed * missedH);
    return naps < chance ? p.napH * Math.exp(p.napLnSd * length) : 0;
  }

  private drawEffort(): Effort | undefined {
    const { person, p, moving } = this;
    moving.reseed(this.seed, person.id, STREAM.activity, this.index + SETTLING_DAYS);
    if (!moving.chance(p.effort)) return undefined;
    const share = p.effortLeast + moving.uniform() * (p.effortMost - p.effortLeast);
    const lengthMin = HOUR_MIN * (p.effortShortest + moving.uniform() * (1 - p.effortShortest));
    const fromMin = moving.uniform() * (HOUR_MIN - lengthMin);
    const hr = person.restingHr + share * (person.maximalHr - person.restingHr);
    return { hr, fromMin, toMin: fromMin + lengthMin };
  }

  /** One of the two free nights of a week. */
  private isFree(): boolean {
    return (this.index + SETTLING_DAYS + this.person.id) % 7 >= 5;
  }

  private sleepNight(intervention: Intervention, alcohol: number) {
    const { person, p, random } = this;
    const { isShort, isLong, lastAsleepH, lastNapH } = this;
    const evening = { isFree: this.isFree(), isShort, isLong, lastAsleepH, lastNapH, alcohol };
    const { asleepH, awakeH, usualAwakeH } = drawNight(person, evening, intervention, p, random);
    const relative = Math.max(0.2, asleepH / person.sleepH);
    const deepZ = random.normal();
    const drunk = Math.max(0.4, 1 - p.alcoholDeep * alcohol);
    const deepShare = person.deepShare * relative ** p.deepDefence * drunk + p.deepDaySd * deepZ;
    const remShare = person.remShare * relative ** p.remLoss * drunk + random.normal(0, p.remDaySd);
    return {
      asleepH,
      awakeH,
      deepShare: clamp(deepShare, 0.01, 0.5),
      remShare: clamp(remShare, 0.01, 0.4),
      deepZ,
      // A night without sleep already counts by its length; don't count it again as time awake.
      awakeAgainstHabitH: asleepH === 0 ? 0 : Math.min(awakeH - usualAwakeH, p.awakeMostH),
    };
  }

  private advanceSleep(asleepH: number): void {
    this.morning = nextMorning(this.morning, this.countedH(asleepH), this.countedH(this.lastNapH));
    this.weekAsleepH = WEEK_MEMORY * this.weekAsleepH + (1 - WEEK_MEMORY) * asleepH;
    this.lastAsleepH = asleepH;
  }

  private countedH(asleepH: number): number {
    return Math.min(16, (asleepH * MODEL_NEED_H) / this.person.needH);
  }
}
