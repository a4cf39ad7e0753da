import { FEATURES, FEATURE_COUNT } from '#acuity/contract/features.js';
import type { Session } from '#acuity/contract/request.js';
import { FIELDS_OF_A_SESSION } from '#rules/fields.js';
import { Wearer, type Device } from './devices.js';
import { COMPLETE, type Plan, type World } from './population.js';
import type { Parameters } from './parameters.js';
import type { Person } from './person.js';
import { Random } from './random.js';
import type { RecordedSession } from './sensor.js';
import { STREAM } from './streams.js';

/**
 * The same people and days as recorded by their own devices and by other ordinary ones: the data that repeatability
 * is learned from and judged by.
 */
export interface Recordings {
  readonly people: readonly Person[];
  /** [people, days, F]: as sent, without what the device lacks or loses and what the caller leaves out. */
  readonly own: Float32Array;
  /** Fields missing in each session sent: [people, days]. */
  readonly missing: Float32Array;
  /** For each other device [people, days, F]: complete. */
  readonly others: readonly Float32Array[];
}

/** All devices see the same heartbeats, simulated in the steps of the finest average. */
const STEP_MIN = 1;
export const RECORDED_DAYS = 7;
/** Streams of this file, away from those of the cohort. */
const WITHHELD = 101;
const OTHER = 102;
/** A device without breathing is simulated with it too, so that the bodies use the same random draws. */
const BREATH_EVERY_MIN = 3;

export function recordings(world: World, count: number, firstId = 0): Recordings {
  const days = RECORDED_DAYS;
  const missing = new Float32Array(count * days);
  const withheld = ordinaryGaps(world.seed);
  let own: Device | undefined;
  let cell = 0;
  const plan: Plan = {
    stepMin: STEP_MIN,
    device: (worn) => withBreath((own = worn)),
    wear(session, person, day) {
      const sent = without(
        own === undefined ? session : withoutSeriesOf(own, session),
        withheld(person.id, day),
      );
      missing[cell++] = missingOf(sent);
      return sent;
    },
  };
  const first = world.simulate(count, days, plan, firstId);
  const others = [1, 2].map((take) => {
    const device: Plan['device'] = (_own, person) => otherDevice(world, person, take);
    return world.simulate(count, days, { stepMin: STEP_MIN, parameters: COMPLETE, take, device }, firstId)
      .rows;
  });
  withhold(first.rows, others);
  return { people: first.people, own: first.rows, missing, others };
}

/** An ordinary device with all four series, one for each person and take. */
function otherDevice(world: World, person: Person, take: number): Device {
  const p: Parameters = world.parameters;
  for (let attempt = 0; ; attempt++) {
    const device = new Wearer(person, (world.seed * 1000 + OTHER + take) * 100 + attempt, p).on(0);
    if (device.dayRrEveryMin > 0 && device.nightRrEveryMin > 0) return device;
  }
}

function withBreath(device: Device): Device {
  const { dayRrEveryMin, nightRrEveryMin } = device;
  return {
    ...device,
    dayRrEveryMin: dayRrEveryMin > 0 ? dayRrEveryMin : BREATH_EVERY_MIN,
    nightRrEveryMin: nightRrEveryMin > 0 ? nightRrEveryMin : BREATH_EVERY_MIN,
  };
}

function withoutSeriesOf(own: Device, session: RecordedSession): RecordedSession {
  return {
    ...session,
    ...(own.dayRrEveryMin > 0 ? {} : { RR_day_1h: [] }),
    ...(own.nightRrEveryMin > 0 ? {} : { RR_night: [] }),
  };
}

/** Half of the callers send everything the device has. */
const WHOLE = 0.5;
const WITHHELD_MOST = 13;

/**
 * Of the others, half never send certain fields, and half lack different fields every day: a random number of them,
 * up to WITHHELD_MOST.
 */
function ordinaryGaps(seed: number): (id: number, day: number) => readonly string[] {
  const random = new Random();
  return (id, day) => {
    random.reseed(seed, id, STREAM.sensor, WITHHELD);
    if (random.chance(WHOLE)) return [];
    if (random.chance(0.5)) random.reseed(seed, id, STREAM.sensor, WITHHELD, day);
    return random.some(FIELDS_OF_A_SESSION, 1 + Math.floor(random.uniform() * WITHHELD_MOST));
  };
}

/** `session`, which may lack any field, without `fields`. */
export function without<T extends RecordedSession | Session>(session: T, fields: readonly string[]): T {
  return Object.fromEntries(Object.entries(session).filter(([field]) => !fields.includes(field))) as T;
}

function missingOf(session: RecordedSession): number {
  const fields = session as Readonly<Record<string, unknown>>;
  return FIELDS_OF_A_SESSION.filter((field) => {
    const value = fields[field];
    return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  }).length;
}

const PERSON = ['age', 'sex', 'height', 'weight', 'bmi'];

/** Age, sex, height and weight do not come from a device: withheld ones are withheld in the other recordings too. */
function withhold(own: Float32Array, others: readonly Float32Array[]): void {
  for (const rows of others) {
    for (let at = 0; at < rows.length; at++) {
      const feature = FEATURES[at % FEATURE_COUNT];
      const mask = at - (at % 2); // each group is a mask and one value
      if (feature !== undefined && PERSON.includes(feature.group))
        rows[at] = (rows[at] ?? 0) * (own[mask] ?? 0);
    }
  }
}
