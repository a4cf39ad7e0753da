import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FEATURES, FEATURE_COUNT, featuresHash } from '#acuity/contract/features.js';
import { DEFAULT_SERIES_LIMITS } from '#acuity/contract/request.js';
import { WasmParser } from '#acuity/pipeline/wasmParser.js';
import { Life, STREAM } from './day.js';
import { Effects, OUTCOMES, OUTCOME_COUNT } from './effects.js';
import { fitNorms, Standing, type Norms } from './norms.js';
import { parameters, type Parameters } from './parameters.js';
import { drawPerson } from './person.js';
import { Progress } from './progress.js';
import { Random } from './random.js';
import { writeRow } from './row.js';
import { Sensor } from './sensor.js';

/**
 * Writes a cohort as tensors for the trainer: raw float32 files and a description. People × days × values,
 * days consecutive. Feature rows come out of the service's own pipeline.
 */
interface Order {
  readonly out: string;
  readonly seed: number;
  readonly people: number;
  readonly days: number;
  readonly effectScale: number;
}

function writeCohort(order: Order): void {
  const { out, seed, people, days, effectScale } = order;
  mkdirSync(out, { recursive: true });
  const p = parameters(effectScale);
  const norms = fitNorms(seed, p);
  const sessions = people * days;
  const features = new Float32Array(sessions * FEATURE_COUNT);
  const causes = new Float32Array(sessions * OUTCOME_COUNT * 3);
  const simulation = new Simulation(seed, p, norms);
  const progress = new Progress('cohort', people);
  for (let id = 0; id < people; id++) {
    simulation.writePerson(id, days, features, causes);
    progress.step();
  }
  writeFileSync(join(out, 'features.f32'), features);
  writeFileSync(join(out, 'causes.f32'), causes);
  writeFileSync(join(out, 'cohort.json'), JSON.stringify(describe(order, norms, p), undefined, 2));
}

class Simulation {
  private readonly effects: Effects;
  private readonly standing: Standing;
  private readonly sensor: Sensor;
  private readonly parser = new WasmParser(DEFAULT_SERIES_LIMITS);

  constructor(
    private readonly seed: number,
    private readonly p: Parameters,
    norms: Norms,
  ) {
    this.effects = new Effects(p);
    this.standing = new Standing(norms);
    this.sensor = new Sensor(seed, p);
  }

  writePerson(id: number, days: number, features: Float32Array, causes: Float32Array): void {
    const person = drawPerson(id, new Random(this.seed, id, STREAM.traits), this.p);
    const life = new Life(person, this.seed, this.p);
    for (let index = 0; index < days; index++) {
      const place = id * days + index;
      const day = life.next();
      const recording = this.sensor.record(person, day);
      writeRow(this.parser, recording, features, place * FEATURE_COUNT);
      const { group, whole, slope } = this.standing.of(person, this.effects.of(person, day));
      causes.set(group, place * 3 * OUTCOME_COUNT);
      causes.set(whole, (place * 3 + 1) * OUTCOME_COUNT);
      causes.set(slope, (place * 3 + 2) * OUTCOME_COUNT);
    }
  }
}

function describe({ seed, people, days, effectScale }: Order, norms: Norms, p: Parameters) {
  return {
    seed,
    people,
    days,
    effectScale,
    features: FEATURES.map(({ name, group }) => ({ name, group })),
    featuresHash: featuresHash(),
    outcomes: OUTCOMES,
    groupSd: [...norms.groupSd],
    wholeSd: [...norms.wholeSd],
    traitVariance: [...norms.traitVariance],
    vulnerabilitySd: p.vulnerabilitySd,
  };
}

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    seed: { type: 'string', default: '1' },
    people: { type: 'string', default: '16000' },
    days: { type: 'string', default: '12' },
    'effect-scale': { type: 'string', default: '1' },
  },
});
if (values.out === undefined) throw new Error('usage: write.js --out DIR [--seed N] [--people N] [--days N]');
writeCohort({
  out: values.out,
  seed: Number(values.seed),
  people: Number(values.people),
  days: Number(values.days),
  effectScale: Number(values['effect-scale']),
});
