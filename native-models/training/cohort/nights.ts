import type { Intervention } from './intervention.js';
import type { Parameters } from './parameters.js';
import { clamp, type Person } from './person.js';
import type { Random } from './random.js';

/** How long a night is, and how much of it is spent awake. */
export interface Night {
  readonly asleepH: number;
  readonly awakeH: number;
  /** The usual time awake for this time in bed. */
  readonly usualAwakeH: number;
}

/** The state before the night. */
export interface Evening {
  readonly isFree: boolean;
  /** In a run of short nights. */
  readonly isShort: boolean;
  /** In a run of long ones. */
  readonly isLong: boolean;
  readonly lastAsleepH: number;
  readonly lastNapH: number;
  /** Doses. */
  readonly alcohol: number;
}

const ASLEEP_MAX_H = 14;
const ASLEEP_LEAST_H = 0.2;

/** The night as the person lives it, or as the intervention sets it. Both draw the same random numbers. */
export function drawNight(
  person: Person,
  evening: Evening,
  intervention: Intervention,
  p: Parameters,
  random: Random,
): Night {
  const usualInBedH = drawInBed(person, evening, p, random);
  const drawn = skewed(random);
  const odd = drawOddNight(person, usualInBedH, p, random);
  const inBedH = intervention.inBedH ?? usualInBedH;
  const isAsLived = intervention.inBedH === undefined && intervention.asleepH === undefined;
  if (isAsLived && odd !== undefined) return odd;
  const restrictionH = person.sleepH / person.efficiency - (intervention.asleepH ?? inBedH);
  const usual = clamp(person.efficiency + p.efficiencyRestriction * restrictionH, 0.5, 0.975);
  const found = clamp(usual + p.efficiencyDaySd * drawn - p.alcoholAwake * evening.alcohol, 0.45, 0.985);
  if (intervention.asleepH !== undefined) return ofLength(intervention.asleepH, found, usual);
  const addAwakeH = intervention.addAwakeH ?? 0;
  const asleepH = clamp(inBedH * found - addAwakeH, ASLEEP_LEAST_H, ASLEEP_MAX_H);
  return { asleepH, awakeH: inBedH * (1 - found) + addAwakeH, usualAwakeH: inBedH * (1 - usual) };
}

function drawInBed(person: Person, evening: Evening, p: Parameters, random: Random): number {
  const { isFree, isShort, isLong, lastAsleepH, lastNapH } = evening;
  const freeH = isFree ? p.sleepWeekendH : -0.4 * p.sleepWeekendH;
  const reboundH = p.sleepRebound * (person.sleepH - lastAsleepH) - p.napRebound * lastNapH;
  const plannedH = clamp(person.sleepH + freeH + reboundH + random.normal(0, p.sleepDaySdH), 1, 13);
  const shortInBedH = clamp(random.normal(p.shortInBedH, p.shortInBedSdH), 2.5, 7);
  const longH = clamp(random.normal(p.longRunH, p.longRunSdH), 8.5, 13.5);
  if (isShort) return shortInBedH;
  return (isLong ? longH : plannedH) / person.efficiency;
}

/** A rare unusual night: without sleep, with very little, or very long; undefined for most nights. */
function drawOddNight(person: Person, inBedH: number, p: Parameters, random: Random): Night | undefined {
  const [which, length, lying] = [random.uniform(), random.uniform(), random.uniform()];
  const isInBed = lying < p.sleeplessInBed;
  if (which < p.sleepless) {
    const awakeH = isInBed ? inBedH : 0;
    return { asleepH: 0, awakeH, usualAwakeH: awakeH };
  }
  if (which < p.sleepless + p.scant) {
    const asleepH = p.scantLeastH + length * (p.scantMostH - p.scantLeastH);
    const { awakeH } = ofLength(asleepH, person.efficiency);
    return { asleepH, awakeH: isInBed ? Math.max(awakeH, inBedH - asleepH) : awakeH, usualAwakeH: awakeH };
  }
  if (which < p.sleepless + p.scant + p.longNight) {
    return ofLength(p.longLeastH + length * (p.longMostH - p.longLeastH), person.efficiency);
  }
  return undefined;
}

function ofLength(asleepH: number, efficiency: number, usual = efficiency): Night {
  return { asleepH, awakeH: asleepH / efficiency - asleepH, usualAwakeH: asleepH / usual - asleepH };
}

/** Mean 0, SD 1, with a long tail towards bad nights. */
function skewed(random: Random): number {
  const x = random.normal();
  return (0.9 * x - 0.3 * (x * x - 1)) / Math.sqrt(0.81 + 0.18);
}
