import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { Life, type Day } from './day.js';
import type { Intervention } from './intervention.js';
import { Wearer, type Device } from './devices.js';
import { Effects, OUTCOME_COUNT } from './effects.js';
import { fitNorms, Standing, type Norms } from './norms.js';
import { parameters, type Parameters } from './parameters.js';
import { drawPerson, type Person } from './person.js';
import { Random } from './random.js';
import { writeRow } from './row.js';
import { Sensor, type RecordedSession, type Recording } from './sensor.js';
import { STREAM } from './streams.js';

/** People × days, both as the service's features and as the cohort's truth. */
export interface Population {
  readonly people: readonly Person[];
  /** The device that each person wears on the last day. */
  readonly devices: readonly Device[];
  readonly days: number;
  /** [people, days, FEATURE_COUNT] */
  readonly rows: Float32Array;
  /** [people, days, 2, outcomes] what acts on each outcome, and what one SD of susceptibility adds (see `Standing`) */
  readonly causes: Float32Array;
  /** [people, days, outcomes] expected percentile (0 to 100) or probability (0 to 1) within age and sex */
  readonly expected: Float32Array;
  /** [people, days, outcomes] what happened: percentile drawn with trait and noise, label as 0 or 1 */
  readonly truth: Float32Array;
}

/** Changes to people and their days; the random draws stay the same, so that populations can be compared in pairs. */
export interface Plan {
  readonly intervene?: (day: number) => Intervention;
  /** Replaces the person's own device. */
  readonly device?: (own: Device, person: Person, day: number) => Device;
  readonly wear?: (session: RecordedSession, person: Person, day: number) => RecordedSession;
  /** Changed parameters of people and devices. */
  readonly parameters?: Partial<Parameters>;
  /** Called with every recording, in the sensor's reused buffers. */
  readonly look?: (recording: Recording, index: number, day: number) => void;
  /** Step of the body simulation: two plans with the same step give two devices the same heartbeats. */
  readonly stepMin?: number;
  /** Another number records the same days and bodies again, with other device errors. */
  readonly take?: number;
  /** Every day is recorded completely: no lost nights or days. */
  readonly isComplete?: boolean;
}

/** Nothing is lost. */
export const COMPLETE: Partial<Parameters> = {
  nightLost: 0,
  nightHrLost: 0,
  dayLost: 0,
  halfLost: 0,
  sleeplessUnsaid: 0,
};

/** Simulates the people of one seed. Fits the norms once. */
export class World {
  readonly parameters: Parameters;
  readonly norms: Norms;
  private readonly parser = new WasmParser(DEFAULT_SERIES_LIMITS);

  constructor(readonly seed: number) {
    this.parameters = parameters();
    this.norms = fitNorms(seed, this.parameters);
  }

  simulate(count: number, days: number, plan: Plan = {}, firstId = 0): Population {
    const cells = count * days;
    const population = {
      people: [] as Person[],
      devices: [] as Device[],
      days,
      rows: new Float32Array(cells * FEATURE_COUNT),
      causes: new Float32Array(cells * 2 * OUTCOME_COUNT),
      expected: new Float32Array(cells * OUTCOME_COUNT),
      truth: new Float32Array(cells * OUTCOME_COUNT),
    };
    const p = { ...this.parameters, ...(plan.isComplete === true ? COMPLETE : {}), ...plan.parameters };
    const sensor = new Sensor(this.seed, p, plan.stepMin, plan.take);
    const judge = new Judge(this.seed, p, this.norms);
    for (let index = 0; index < count; index++) {
      const person = drawPerson(firstId + index, new Random(this.seed, firstId + index, STREAM.traits), p);
      population.people.push(person);
      const life = new Life(person, this.seed, p);
      const wearer = new Wearer(person, this.seed, p);
      judge.meet(person);
      for (let day = 0; day < days; day++) {
        const cell = index * days + day;
        const lived = life.next(plan.intervene?.(day) ?? {});
        const own = wearer.on(day);
        const device = plan.device?.(own, person, day) ?? own;
        if (day === days - 1) population.devices.push(device);
        const recording = sensor.record(person, lived, device);
        const session = plan.wear?.(recording.session, person, day) ?? recording.session;
        writeRow(this.parser, { ...recording, session }, population.rows, cell * FEATURE_COUNT);
        plan.look?.({ ...recording, session }, index, day);
        judge.write(person, lived, population, cell);
      }
    }
    return population;
  }
}

/** Writes the expected outcomes of a person's day, and the drawn ones. */
class Judge {
  private readonly effects: Effects;
  private readonly standing: Standing;
  private readonly traits = new Float64Array(OUTCOME_COUNT);
  private readonly leans = new Float64Array(OUTCOME_COUNT);
  private readonly random = new Random();

  constructor(
    private readonly seed: number,
    p: Parameters,
    private readonly norms: Norms,
  ) {
    this.effects = new Effects(p);
    this.standing = new Standing(norms);
  }

  meet(person: Person): void {
    this.random.reseed(this.seed, person.id, STREAM.scores);
    const lean = [this.random.normal(), this.random.normal()];
    for (let k = 0; k < OUTCOME_COUNT; k++) {
      this.traits[k] = this.random.normal(0, Math.sqrt(this.norms.traitVariance[k] ?? 0));
      this.leans[k] = lean[k < 4 ? 0 : 1] ?? 0;
    }
  }

  write(person: Person, day: Day, into: Population, cell: number): void {
    const { standing } = this;
    const { group, slope } = standing.of(person, this.effects.of(person, day));
    into.causes.set(group, cell * 2 * OUTCOME_COUNT);
    into.causes.set(slope, (cell * 2 + 1) * OUTCOME_COUNT);
    for (let k = 0; k < OUTCOME_COUNT; k++) {
      const place = cell * OUTCOME_COUNT + k;
      into.expected[place] = standing.expected(k) * (k < 4 ? 100 : 1);
      into.truth[place] = this.draw(k);
    }
  }

  private draw(k: number): number {
    const noise = this.random.normal(0, Math.sqrt(1 - (this.norms.traitVariance[k] ?? 0)));
    return this.standing.drawn(k, (this.traits[k] ?? 0) + noise, this.leans[k] ?? 0);
  }
}
