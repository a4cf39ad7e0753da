import { dateOf } from '#acuity/base/days.js';
import { HALF_LIFE_NIGHTS } from '#acuity/night/history/longRun.js';
import { MEASURED_FIELDS, type MeasuredField } from '#rules/fields.js';
import {
  added,
  adjusted,
  adjustmentOf,
  evidenceOf,
  LABEL_VALUES,
  latentOf,
  NO_EVIDENCE,
  offsetOf,
  standingOf,
  weightAfter,
} from '#acuity/night/measured.js';
import { normalCdf } from '#acuity/night/normal.js';
import type { MeasuredConstants } from '#acuity/model/manifest.js';
import type { Population, World } from '../cohort/population.js';
import { Random } from '../cohort/random.js';
import { STREAM } from '../cohort/streams.js';
import { COLUMN, type ServedModel } from '../served.js';
import { LABELS, NAMES, SCORES } from './context.js';
import { livesOf } from './requests.js';
import { rollOut, type Rollout } from './rollout.js';
import { demand, fixed, type Demand } from './section.js';

/** A test of one score, or a label: 0 to 100. */
export interface TestTaken {
  readonly value: number;
  readonly day: number;
  /** Where the caller says nothing, the manifest's counts. */
  readonly reliability?: number;
}

/** Sessions that a history keeps one by one, that of the day in hand among them. */
const KEPT = 6;
/** Of the long run. */
const DECAY = 2 ** (-1 / HALF_LIFE_NIGHTS);
const OUTCOMES = MEASURED_FIELDS.length;
const WIDTH = 7;

/**
 * People's days, what the network says of them in the closed loop, and what tests of them would give: how much of the
 * variance is the person's own is chosen, and drawn anew.
 */
export class MeasuredPeople {
  readonly count: number;
  private readonly days: number;
  /** [people, days, outcomes] the mean of a score over the nights that are not kept one by one on that day */
  private readonly longRuns: Float32Array;

  private constructor(
    private readonly world: World,
    readonly population: Population,
    readonly rollout: Rollout,
    readonly constants: MeasuredConstants,
  ) {
    this.count = population.people.length;
    this.days = population.days;
    this.longRuns = new Float32Array(this.count * this.days * OUTCOMES);
    for (let person = 0; person < this.count; person++) {
      for (let k = 0; k < OUTCOMES; k++) this.follow(person, k);
    }
  }

  static async of(
    world: World,
    population: Population,
    model: ServedModel,
    constants: MeasuredConstants,
  ): Promise<MeasuredPeople> {
    return new MeasuredPeople(world, population, await rollOut(model, population), constants);
  }

  /** What the network says of outcome `k` on a day: 0 to 100, of a label the probability of High in percent. */
  said(person: number, day: number, k: number): number {
    const score = this.rollout.scores[this.cell(person, day) * WIDTH + 1 + k] ?? NaN;
    return k < SCORES.length ? score : 100 * score;
  }

  /** What a test would give: a percentile, or a label as 0 or 100. `share` of the variance is the person's own. */
  truth(person: number, day: number, k: number, share: number): number {
    const { world, population } = this;
    const at = this.cell(person, day) * 2 * OUTCOMES + k;
    const own = Math.sqrt(share) * new Random(world.seed, person, STREAM.ownShare, k).normal();
    const ofTheDay = Math.sqrt(1 - share) * new Random(world.seed, person, STREAM.tests, k, day).normal();
    const lean = new Random(world.seed, person, STREAM.ownShare, k < SCORES.length ? -1 : -2).normal();
    const outcome =
      (population.causes[at] ?? 0) + lean * (population.causes[at + OUTCOMES] ?? 0) + own + ofTheDay;
    if (k >= SCORES.length) return outcome >= 0 ? 100 : 0;
    return 100 * normalCdf(outcome / (world.norms.groupSd[k] ?? 1));
  }

  /** The score of a day with `tests` of it, none of them of a later day: of older nights only their mean is known. */
  measured(person: number, day: number, k: number, tests: readonly TestTaken[]): number {
    const field = fieldOf(k);
    const said = this.said(person, day, k);
    let evidence = NO_EVIDENCE;
    for (const { value, day: taken, reliability = this.constants.reliability[field] } of tests) {
      const isKept = day - taken < KEPT;
      const of = isKept
        ? this.said(person, taken, k)
        : (this.longRuns[this.cell(person, day) * OUTCOMES + k] ?? NaN);
      const weight = weightAfter(day - taken, this.constants.halfLifeDays[field]);
      const standing = standingOf(
        field,
        k < SCORES.length ? value : LABEL_VALUES[value > 50 ? 'High' : 'Low'],
      );
      evidence = added(evidence, evidenceOf(standing, latentOf(field, of), reliability, weight));
    }
    const adjustment = adjustmentOf(evidence);
    if (adjustment === undefined) return said;
    return adjusted(field, said, offsetOf(field, adjustment, said), adjustment.scale);
  }

  private follow(person: number, k: number): void {
    let [mean, weight] = [NaN, 0];
    for (let day = KEPT; day < this.days; day++) {
      weight = DECAY * weight + 1;
      const night = this.said(person, day - KEPT, k);
      mean = weight === 1 ? night : mean + (night - mean) / weight;
      this.longRuns[this.cell(person, day) * OUTCOMES + k] = mean;
    }
  }

  private cell(person: number, day: number): number {
    return person * this.days + day;
  }
}

/** `count` different days of the thirty before `day`, drawn for each person. */
export function testDays(seed: number, person: number, day: number, count: number): number[] {
  const random = new Random(seed, person, STREAM.tests, -1, count);
  const days = Array.from({ length: 30 }, (_, back) => day - 1 - back);
  return random.some(days, count);
}

function fieldOf(k: number): MeasuredField {
  const field = NAMES[k];
  if (field === undefined) throw new Error(`no outcome ${k}`);
  return field;
}

const SERVED = { people: 24, days: 36, tests: 5, share: 0.55 } as const;
/** A history keeps scores in hundredths and their mean in 32 bits. */
const APART_MOST = 0.05;
/** Any day: 2025-01-01. */
const FIRST_NIGHT = 20_089;

/**
 * Some people by the service's own reader and history, night after night, each test sent with its night: what all
 * other figures are judged by says the same.
 */
export async function asServed(
  world: World,
  model: ServedModel,
  constants: MeasuredConstants,
): Promise<Demand> {
  const { people: count, days: nights, tests, share } = SERVED;
  const people = await MeasuredPeople.of(world, world.simulate(count, nights), model, constants);
  let apart = 0;
  for (const [person, sessions] of livesOf(world, count, nights, {}).entries()) {
    const days = testDays(world.seed, person, nights - 1, tests);
    const truth = (day: number, k: number): number => people.truth(person, day, k, share);
    let history = '';
    for (const [day, current_session] of sessions.entries()) {
      const night = dateOf(FIRST_NIGHT + day);
      const measurements = [
        ...SCORES.map((score, k) => ({ score, value: truth(day, k), on: night })),
        ...LABELS.map((score, index) => ({
          score,
          value: truth(day, SCORES.length + index) > 50 ? ('High' as const) : ('Low' as const),
          on: night,
        })),
      ];
      const request = {
        current_session,
        history,
        night,
        measurements: days.includes(day) ? measurements : null,
      };
      const answer = await model.scoreCarried(request, constants);
      history = answer.history;
      for (const [k, field] of NAMES.entries()) {
        const taken = days.filter((of) => of <= day).map((of) => ({ day: of, value: truth(of, k) }));
        const served = (k < SCORES.length ? 1 : 100) * (answer.scores[COLUMN[field]] ?? NaN);
        apart = Math.max(apart, Math.abs(served - people.measured(person, day, k, taken)));
      }
    }
  }
  return demand(
    `${count} people by the service’s own histories, ${nights} nights with ${tests} tests of every score: every answer within ${APART_MOST} of what is judged here`,
    `at most ${fixed(apart, 3)} apart`,
    apart <= APART_MOST,
  );
}
