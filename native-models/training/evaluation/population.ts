import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { DEFAULT_SERIES_LIMITS } from '#acuity/contract/request.js';
import { WasmParser } from '#acuity/pipeline/wasmParser.js';
import { Life, STREAM, type Day, type Intervention } from '../cohort/day.js';
import { Effects, OUTCOME_COUNT } from '../cohort/effects.js';
import { fitNorms, Standing, type Norms } from '../cohort/norms.js';
import { parameters, type Parameters } from '../cohort/parameters.js';
import { drawPerson, type Person } from '../cohort/person.js';
import { Random } from '../cohort/random.js';
import { writeRow } from '../cohort/row.js';
import { Sensor, type RecordedSession } from '../cohort/sensor.js';

/** People × days, as the service's features see them and as the cohort knows them. */
export interface Population {
  readonly people: readonly Person[];
  readonly days: number;
  /** [people, days, FEATURE_COUNT] */
  readonly rows: Float32Array;
  /** [people, days, outcomes] expected percentile (0 to 100) or probability (0 to 1) within age and sex */
  readonly expected: Float32Array;
  /** The same within everybody, which is what is meant where age or sex is withheld. */
  readonly expectedOverall: Float32Array;
  /** [people, days, outcomes] what happened: percentile drawn with trait and noise, label as 0 or 1 */
  readonly truth: Float32Array;
}

/** What is done to people and their days; the draws stay as they were, so that populations can be paired. */
export interface Plan {
  readonly change?: (person: Person) => Person;
  readonly intervene?: (day: number) => Intervention;
  readonly wear?: (session: RecordedSession, person: Person, day: number) => RecordedSession;
  /** Every day is recorded in full: no lost nights, no lost days. */
  readonly isComplete?: boolean;
}

/** Simulates people of one seed. The norms are fitted once. */
export class World {
  private readonly parameters: Parameters;
  private readonly norms: Norms;
  private readonly parser = new WasmParser(DEFAULT_SERIES_LIMITS);

  constructor(private readonly seed: number) {
    this.parameters = parameters();
    this.norms = fitNorms(seed, this.parameters);
  }

  simulate(count: number, days: number, plan: Plan = {}, firstId = 0): Population {
    const cells = count * days;
    const population = {
      people: [] as Person[],
      days,
      rows: new Float32Array(cells * FEATURE_COUNT),
      expected: new Float32Array(cells * OUTCOME_COUNT),
      expectedOverall: new Float32Array(cells * OUTCOME_COUNT),
      truth: new Float32Array(cells * OUTCOME_COUNT),
    };
    const p = plan.isComplete === true ? { ...this.parameters, nightLost: 0, dayLost: 0 } : this.parameters;
    const sensor = new Sensor(this.seed, p);
    const judge = new Judge(this.seed, p, this.norms);
    for (let index = 0; index < count; index++) {
      const drawn = drawPerson(firstId + index, new Random(this.seed, firstId + index, STREAM.traits), p);
      const person = plan.change?.(drawn) ?? drawn;
      population.people.push(person);
      const life = new Life(person, this.seed, p);
      judge.meet(person);
      for (let day = 0; day < days; day++) {
        const cell = index * days + day;
        const lived = life.next(plan.intervene?.(day) ?? {});
        const recording = sensor.record(person, lived);
        const session = plan.wear?.(recording.session, person, day) ?? recording.session;
        writeRow(this.parser, { ...recording, session }, population.rows, cell * FEATURE_COUNT);
        judge.write(person, lived, population, cell);
      }
    }
    return population;
  }
}

/** Writes what is to be expected of a person's day, and what happened. */
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
    standing.of(person, this.effects.of(person, day));
    for (let k = 0; k < OUTCOME_COUNT; k++) {
      const place = cell * OUTCOME_COUNT + k;
      into.expected[place] = standing.expected(k) * (k < 4 ? 100 : 1);
      into.expectedOverall[place] = standing.expected(k, false) * (k < 4 ? 100 : 1);
      into.truth[place] = this.draw(k);
    }
  }

  private draw(k: number): number {
    const noise = this.random.normal(0, Math.sqrt(1 - (this.norms.traitVariance[k] ?? 0)));
    return this.standing.drawn(k, (this.traits[k] ?? 0) + noise, this.leans[k] ?? 0);
  }
}
