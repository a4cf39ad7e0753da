import { momentMs, type Moment } from './moment.js';
import { UnitError } from './unitChecks.js';

/** Who the session is of; whatever is not known is left out. */
export interface Person {
  /** In years; or give `bornAt`. */
  readonly age?: number;
  readonly bornAt?: Moment;
  readonly heightCm?: number;
  readonly weightKg?: number;
  readonly sex?: 'M' | 'F' | null;
}

/** The same as fields of a session. */
export interface PersonFields {
  age?: number;
  height_cm?: number;
  weight_kg?: number;
  sex?: 'M' | 'F' | null;
}

const YEAR_MS = 365.2425 * 86_400_000;
const AGE_MAX = 130;
const FIRST_YEAR_OF_BIRTH = 1890;
const HEIGHT_CM = { min: 30, max: 272 } as const;
const WEIGHT_KG = { min: 1, max: 650 } as const;
/** Outside of this, height or weight is in another unit: inches give some 300, metres thousands. */
const BODY_MASS_INDEX = { min: 7, max: 130 } as const;

/** @throws UnitError or TypeError where a field can't be what it is called */
export function personFields(person: Person, atMs: number): PersonFields {
  const { heightCm, weightKg, sex } = person;
  const fields: PersonFields = {};
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
  if (!(years >= 0 && years <= AGE_MAX)) throw new UnitError(`age is in years, 0 to ${AGE_MAX}`);
  return years;
}

/** A day of birth needs no offset: it moves the age by less than a day. */
function dayMs(bornAt: Moment): number {
  if (typeof bornAt === 'string' && /^\d{4}-\d\d-\d\d$/.test(bornAt)) return Date.parse(bornAt);
  if (typeof bornAt === 'number') return bornAt; // before 1973 milliseconds are small
  return momentMs(bornAt, 'bornAt');
}

function checkHeight(heightCm: number): number {
  if (heightCm > 0 && heightCm < 3) throw new UnitError('heightCm is in centimetres; this looks like metres');
  return within(heightCm, HEIGHT_CM, 'heightCm is in centimetres');
}

function checkWeight(weightKg: number): number {
  if (weightKg > WEIGHT_KG.max)
    throw new UnitError('weightKg is in kilograms; this looks like grams or pounds');
  return within(weightKg, WEIGHT_KG, 'weightKg is in kilograms');
}

function within(value: number, { min, max }: { min: number; max: number }, what: string): number {
  if (!(value >= min && value <= max)) throw new UnitError(`${what}, ${min} to ${max}`);
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
