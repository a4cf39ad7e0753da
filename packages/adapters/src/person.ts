import { NUMBER_BOUNDS } from '#rules/fields.js';
import { momentMs, type Moment } from '#rules/moment.js';
import type { Session } from './session.js';
import { UnitError } from './unitChecks.js';

/** The person of the session; leave out unknown values. */
export interface Person {
  /** In years; or give `bornAt`. */
  readonly age?: number;
  readonly bornAt?: Moment;
  readonly heightCm?: number;
  readonly weightKg?: number;
  readonly sex?: 'M' | 'F' | null;
}

const YEAR_MS = 365.2425 * 86_400_000;
/** No age in years is this high; a year of birth is. */
const FIRST_YEAR_OF_BIRTH = 1890;
/** A height below this is in metres. */
const METRES_BELOW = 3;
/** Outside of this range height or weight is in another unit: inches give some 300, metres thousands. */
const BODY_MASS_INDEX = { min: 7, max: 130 } as const;

/**
 * The person as fields of a session.
 * @throws UnitError or TypeError if a field can't have its value
 * @internal
 */
export function personFields(person: Person, atMs: number): Session {
  const { heightCm, weightKg, sex } = person;
  const fields: Session = {};
  const age = ageOf(person, atMs);
  if (age !== undefined) fields.age = age;
  if (heightCm !== undefined) fields.height_cm = checkHeight(heightCm);
  if (weightKg !== undefined) fields.weight_kg = checkWeight(weightKg);
  if (sex !== undefined) fields.sex = checkSex(sex);
  if (heightCm !== undefined && weightKg !== undefined) checkTogether(heightCm, weightKg);
  return fields;
}

function ageOf({ age, bornAt }: Person, atMs: number): number | undefined {
  if (age !== undefined && bornAt !== undefined) throw new TypeError('give age or bornAt, not both');
  const years = bornAt === undefined ? age : Math.floor((atMs - dayMs(bornAt)) / YEAR_MS);
  if (years === undefined) return undefined;
  if (years >= FIRST_YEAR_OF_BIRTH) throw new UnitError('age is in years; this looks like a year of birth');
  return within(years, 'age', 'age is in years');
}

/** A day of birth needs no offset, which would change the age by less than a day. */
function dayMs(bornAt: Moment): number {
  if (typeof bornAt === 'string' && /^\d{4}-\d\d-\d\d$/.test(bornAt)) return Date.parse(bornAt);
  if (typeof bornAt === 'number') return bornAt; // before 1973 milliseconds are small
  return momentMs(bornAt, 'bornAt');
}

function checkHeight(heightCm: number): number {
  if (heightCm > 0 && heightCm < METRES_BELOW)
    throw new UnitError('heightCm is in centimetres; this looks like metres');
  return within(heightCm, 'height_cm', 'heightCm is in centimetres');
}

function checkWeight(weightKg: number): number {
  if (weightKg > NUMBER_BOUNDS.weight_kg.maximum)
    throw new UnitError('weightKg is in kilograms; this looks like grams or pounds');
  return within(weightKg, 'weight_kg', 'weightKg is in kilograms');
}

function within(value: number, field: keyof typeof NUMBER_BOUNDS, what: string): number {
  const { minimum, maximum } = NUMBER_BOUNDS[field];
  if (!(value >= minimum && value <= maximum)) throw new UnitError(`${what}, ${minimum} to ${maximum}`);
  return value;
}

function checkSex(sex: unknown): 'M' | 'F' | null {
  if (sex === 'M' || sex === 'F' || sex === null) return sex;
  throw new TypeError("sex is 'M', 'F' or null");
}

function checkTogether(heightCm: number, weightKg: number): void {
  const index = weightKg / (heightCm / 100) ** 2;
  if (index >= BODY_MASS_INDEX.min && index <= BODY_MASS_INDEX.max) return;
  throw new UnitError('height and weight do not go together; is one in inches, or in pounds?');
}
