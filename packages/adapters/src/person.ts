import { momentMs, type Moment } from '#rules/moment.js';
import { known } from './ordered.js';
import type { Session } from './session.js';

/** The person of the session; leave out unknown values. The service checks them. */
export interface Person {
  /** In years; or give `bornAt`. */
  readonly age?: number;
  readonly bornAt?: Moment;
  readonly heightCm?: number;
  readonly weightKg?: number;
  readonly sex?: 'M' | 'F' | null;
}

const YEAR_MS = 365.2425 * 86_400_000;

/**
 * The person as fields of a session.
 * @throws TypeError if there are two ages
 * @internal
 */
export function personFields({ age, bornAt, heightCm, weightKg, sex }: Person, atMs: number): Session {
  if (age !== undefined && bornAt !== undefined) throw new TypeError('give age or bornAt, not both');
  const years = bornAt === undefined ? age : Math.floor((atMs - dayMs(bornAt)) / YEAR_MS);
  return known({ age: years, height_cm: heightCm, weight_kg: weightKg, sex });
}

/** A day of birth needs no offset, which would change the age by less than a day. */
function dayMs(bornAt: Moment): number {
  if (typeof bornAt === 'string' && /^\d{4}-\d\d-\d\d$/.test(bornAt)) return Date.parse(bornAt);
  if (typeof bornAt === 'number') return bornAt; // before 1973 milliseconds are small
  return momentMs(bornAt, 'bornAt');
}
