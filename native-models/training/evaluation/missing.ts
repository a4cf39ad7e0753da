import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { DEFAULT_SERIES_LIMITS, FIELDS_OF_A_SESSION } from '#rules/fields.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { Life } from '../cohort/day.js';
import { Wearer } from '../cohort/devices.js';
import { parameters } from '../cohort/parameters.js';
import { drawPerson } from '../cohort/person.js';
import { Random } from '../cohort/random.js';
import { writeRow } from '../cohort/row.js';
import { Sensor, type RecordedSession } from '../cohort/sensor.js';
import { STREAM } from '../cohort/streams.js';
import { recordOf } from '../served.js';
import { dayColumn, SCORES, type Context } from './context.js';
import { plot } from './plot.js';
import { COMPLETE, type Population } from '../cohort/population.js';
import { rollOut, scoreDay } from './rollout.js';
import { demand, fixed, isWithin, type Section } from './section.js';
import { mean, rms } from './statistics.js';

const PEOPLE = 3_000;
const DAYS = 6;
const STEPS = [0, 2, 4, 6, 8, 10, 12, 14, 16] as const;
const SEED = 11;

/** Point 5: any subset is answered, and more fields give less error. */
export async function missing(context: Context): Promise<Section> {
  const full = context.world.simulate(PEOPLE, DAYS, { isComplete: true });
  const curves = { alone: [] as number[][], together: [] as number[][] };
  for (const count of STEPS) {
    const errors = await errorsWithout(context, full, count);
    curves.alone.push(errors.alone);
    curves.together.push(errors.together);
  }
  const empty = recordOf(await context.model.score({ current_session: {} }));
  const offCentre = Math.max(...SCORES.map((name) => Math.abs(empty[name] - 50)));
  const subsets = await everySubset(context);
  const averages = (curve: readonly number[][]): number[] => curve.map((errors) => mean(errors));
  return {
    number: 5,
    title: 'Missing data',
    about: 'What is lost with each missing field?',
    demands: [
      demand(
        'error rises with each two fields removed, no history',
        listed(averages(curves.alone)),
        rises(averages(curves.alone)),
      ),
      demand(
        'the same with five sessions',
        listed(averages(curves.together)),
        rises(averages(curves.together)),
      ),
      demand(
        `all ${subsets.count} subsets of the sixteen fields give finite scores in range`,
        `${subsets.bad} do not`,
        subsets.bad === 0,
      ),
      demand(
        '`{}` is near 50 (within 2)',
        SCORES.map((name) => fixed(empty[name], 1)).join(', '),
        isWithin(offCentre, 0, 2),
      ),
    ],
    tables: [
      {
        caption:
          'Distance to the expected percentile (root mean square, points) by number of fields removed at random, no history | five sessions',
        header: ['fields removed', ...SCORES],
        rows: STEPS.map((count, step) => [
          String(count),
          ...SCORES.map(
            (_, k) =>
              `${fixed(curves.alone[step]?.[k] ?? NaN, 2)} | ${fixed(curves.together[step]?.[k] ?? NaN, 2)}`,
          ),
        ]),
      },
    ],
    figures: [
      {
        file: 'missing.svg',
        caption: 'Error by number of fields removed',
        svg: plot({
          title: 'Error by missing fields',
          x: 'fields removed of sixteen',
          y: 'distance to the expected percentile, points',
          series: [
            ...series('no history', curves.alone, 'dashed'),
            ...series('five sessions', curves.together, 'line'),
          ],
        }),
      },
    ],
    notes: [
      'Each person loses fields in an order of their own, the same in all sessions. Everybody is compared with their own age and sex, also where these are withheld.',
    ],
  };
}

function series(name: string, curve: readonly number[][], style: 'line' | 'dashed') {
  return SCORES.map((score, k) => ({
    name: `${score}, ${name}`,
    style,
    colour: k,
    points: STEPS.map((count, step) => [count, curve[step]?.[k] ?? NaN] as const),
  }));
}

async function errorsWithout({ world, model }: Context, full: Population, count: number) {
  const worn = world.simulate(PEOPLE, DAYS, {
    isComplete: true,
    wear: (session, person) => without(session, orderOf(person.id).slice(0, count)),
  });
  const rollout = await rollOut(model, worn);
  const day = DAYS - 1;
  const alone = await scoreDay(model, worn, rollout.targets, day, 0);
  const together = await scoreDay(model, worn, rollout.targets, day, 5);
  const errors = (scores: Float32Array): number[] =>
    SCORES.map((_, k) => {
      const expected = Float64Array.from(
        full.people,
        (_p, i) => full.expected[(i * DAYS + day) * 6 + k] ?? NaN,
      );
      return rms(expected, dayColumn(scores, k));
    });
  return { alone: errors(alone), together: errors(together) };
}

function orderOf(id: number): string[] {
  const random = new Random(SEED, id);
  return FIELDS_OF_A_SESSION.map((field) => ({ field, at: random.uniform() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ field }) => field);
}

function without(session: RecordedSession, fields: readonly string[]): RecordedSession {
  return Object.fromEntries(Object.entries(session).filter(([field]) => !fields.includes(field)));
}

/** One person's day in every subset of its fields. */
async function everySubset({ model }: Context): Promise<{ count: number; bad: number }> {
  const p = { ...parameters(), ...COMPLETE };
  const person = drawPerson(0, new Random(SEED, 0, STREAM.traits), p);
  const device = new Wearer(person, SEED, p).on(0);
  const recording = new Sensor(SEED, p).record(person, new Life(person, SEED, p).next(), device);
  const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
  const count = 2 ** FIELDS_OF_A_SESSION.length;
  const scores = await model.scoreRows('base', count, (inputs, row, subset) => {
    const removed = FIELDS_OF_A_SESSION.filter((_, bit) => ((subset >> bit) & 1) === 1);
    const session = without(recording.session, removed);
    writeRow(parser, { ...recording, session }, inputs.session, row * FEATURE_COUNT);
  });
  const bad = scores.reduce((sum, score) => sum + (score >= 0 && score <= 100 ? 0 : 1), 0);
  return { count, bad };
}

function rises(curve: readonly number[]): boolean {
  return curve.every((error, index) => index === 0 || error > (curve[index - 1] ?? 0));
}

function listed(curve: readonly number[]): string {
  return curve.map((error) => fixed(error, 2)).join(' → ');
}
