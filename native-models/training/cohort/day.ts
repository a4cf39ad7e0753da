import { daytimeLapses, nextMorning, RESTED, type Homeostats } from './fatigue.js';
import type { Parameters } from './parameters.js';
import { clamp, type Person } from './person.js';
import { Random } from './random.js';

/** What a day truly was, before any device looked at it. */
export interface Day {
  readonly index: number;
  readonly asleepH: number;
  readonly awakeH: number;
  readonly deepShare: number;
  readonly remShare: number;
  /** Deep share against habit, in SD of the night-to-night spread. */
  readonly deepZ: number;
  /** Time awake at night against what the person's habit lets expect, in hours. */
  readonly awakeAgainstHabitH: number;
  /** Weighted mean of the last week's time asleep, in hours. */
  readonly weekAsleepH: number;
  readonly lapses: number;
  readonly nightHrDeviation: number;
  readonly dayHrDeviation: number;
  readonly nightRrDeviation: number;
  readonly dayRrDeviation: number;
}

/** What an experiment does to a day; absent means: as the person lives. */
export interface Intervention {
  readonly inBedH?: number;
  readonly addAwakeH?: number;
  readonly addNightHr?: number;
  readonly addDayHr?: number;
  readonly addRr?: number;
}

/** Days of settling in before a simulation counts. */
export const SETTLING_DAYS = 28;
const WEEK_MEMORY = 0.75;
/** Streams of a person: traits, days, sensor (see `Random`). */
export const STREAM = { traits: 1, days: 2, sensor: 3, scores: 4 } as const;

/** A person's life from day to day. Each day has its own stream: an intervention leaves later draws as they were. */
export class Life {
  private morning: Homeostats = RESTED;
  private tension = 0;
  private nightHr = 0;
  private isIll = false;
  /** In a run of short nights. */
  private isShort = false;
  private weekAsleepH: number;
  private lastAsleepH: number;
  private index = -SETTLING_DAYS;
  private readonly random = new Random();

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
    const night = this.sleepNight(intervention);
    const lateH = random.normal(0, 0.7);
    const ill = this.isIll ? 1 : 0;
    const nightNoise = p.nightHrTension * this.tension + Math.sqrt(1 - p.nightHrTension ** 2) * this.nightHr;
    const nightHrDeviation =
      p.nightHrSd * nightNoise + p.lateNightHr * lateH + p.illnessHr * ill + (intervention.addNightHr ?? 0);
    const rr = random.normal() * person.nightRrSd;
    const day: Day = {
      index: this.index,
      ...night,
      weekAsleepH: this.weekAsleepH,
      lapses: daytimeLapses(this.morning),
      nightHrDeviation,
      dayHrDeviation:
        p.dayHrSd * this.share(p.dayHrTension) + 0.7 * p.illnessHr * ill + (intervention.addDayHr ?? 0),
      nightRrDeviation: rr + p.illnessRr * ill + (intervention.addRr ?? 0),
      dayRrDeviation:
        p.dayRrDaySd * this.share(p.dayRrTension) + 0.5 * rr + p.illnessRr * ill + (intervention.addRr ?? 0),
    };
    this.index++;
    return day;
  }

  /** A standard normal of which `loading` is today's tension. */
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
  }

  private sleepNight(intervention: Intervention) {
    const { person, p, random } = this;
    const weekday = (this.index + SETTLING_DAYS + person.id) % 7;
    const weekend = weekday >= 5 ? p.sleepWeekendH : -0.4 * p.sleepWeekendH;
    const rebound = p.sleepRebound * (person.sleepH - this.lastAsleepH);
    const plannedH = clamp(person.sleepH + weekend + rebound + random.normal(0, p.sleepDaySdH), 2, 12.5);
    const shortInBedH = clamp(random.normal(p.shortInBedH, p.shortInBedSdH), 2.5, 7);
    const inBedH = intervention.inBedH ?? (this.isShort ? shortInBedH : plannedH / person.efficiency);
    const restrictionH = person.sleepH / person.efficiency - inBedH;
    const usual = clamp(person.efficiency + p.efficiencyRestriction * restrictionH, 0.5, 0.975);
    const drawn = clamp(usual + p.efficiencyDaySd * skewed(random), 0.45, 0.985);
    const addAwakeH = intervention.addAwakeH ?? 0;
    const awakeH = inBedH * (1 - drawn) + addAwakeH;
    const asleepH = Math.max(0.5, inBedH * drawn - addAwakeH);
    const relative = asleepH / person.sleepH;
    const deepZ = random.normal();
    const deepShare = clamp(person.deepShare * relative ** p.deepDefence + p.deepDaySd * deepZ, 0.01, 0.5);
    const remShare = clamp(person.remShare * relative ** p.remLoss + random.normal(0, p.remDaySd), 0.01, 0.4);
    // The homeostats count sleep against the person's own need: eight hours are full for the model's average.
    this.morning = nextMorning(this.morning, clamp((asleepH * 8) / person.needH, 0.5, 13));
    this.weekAsleepH = WEEK_MEMORY * this.weekAsleepH + (1 - WEEK_MEMORY) * asleepH;
    this.lastAsleepH = asleepH;
    return {
      asleepH,
      awakeH,
      deepShare,
      remShare,
      deepZ,
      awakeAgainstHabitH: awakeH - inBedH * (1 - usual),
    };
  }
}

/** Mean 0, SD 1, with the long tail towards bad nights. */
function skewed(random: Random): number {
  const x = random.normal();
  return (0.9 * x - 0.3 * (x * x - 1)) / Math.sqrt(0.81 + 0.18);
}
