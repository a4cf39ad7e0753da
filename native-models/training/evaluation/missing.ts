import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { DEFAULT_SERIES_LIMITS, FIELDS_OF_A_SESSION } from '#rules/fields.js';
import type { Population } from '../cohort/population.js';
import { Random } from '../cohort/random.js';
import { writeRow } from '../cohort/row.js';
import type { RecordedSession, Recording } from '../cohort/sensor.js';
import { recordOf } from '../served.js';
import { dayColumn, expectedOf, SCORES, type Context } from './context.js';
import { rollOut, scoreDay } from './rollout.js';
import { demand, fixed, type Section } from './section.js';
import { mean, rms } from './statistics.js';

const PEOPLE = 3_000;
const DAYS = 6;
const LAST = DAYS - 1;
const STEPS = [0, 2, 4, 6, 8, 10, 12, 14, 16] as const;
const WAYS = ['alone', 'together'] as const;
const SEED = 11;

type Errors = Readonly<Record<(typeof WAYS)[number], readonly number[]>>;

/** Point 5: any subset is answered, and more fields give less error. */
export async function missing(context: Context): Promise<Section> {
  const full = context.world.simulate(PEOPLE, DAYS, { isComplete: true });
  const errors: Errors[] = [];
  for (const count of STEPS) errors.push(await errorsWithout(context, full, count));
  const nothing = recordOf(await context.model.score({ current_session: {} }));
  const bad = await badSubsets(context);
  return {
    number: 5,
    title: 'Missing data',
    why: 'What is lost with each missing field? Each person loses fields in an order of their own, the same in all sessions. Everybody is compared with their own age and sex, also where these are withheld.',
    demands: [
      ...WAYS.map((way) => {
        const curve = errors.map((one) => mean(one[way]));
        return demand(
          `error rises with each two fields removed, ${way === 'alone' ? 'no history' : 'five sessions'}`,
          curve.map((error) => fixed(error, 2)).join(' → '),
          curve.every((error, index) => index === 0 || error > (curve[index - 1] ?? 0)),
        );
      }),
      demand('all subsets of the sixteen fields give finite scores in range', `${bad} of ${2 ** FIELDS_OF_A_SESSION.length} do not`, bad === 0), // prettier-ignore
      demand(
        '`{}` is near 50 (within 2)',
        SCORES.map((name) => fixed(nothing[name], 1)).join(', '),
        SCORES.every((name) => Math.abs(nothing[name] - 50) <= 2),
      ),
    ],
    tables: [
      {
        caption:
          'Distance to the expected percentile (root mean square, points) by number of fields removed at random, no history | five sessions',
        header: ['fields removed', ...SCORES],
        rows: STEPS.map((count, step) => [
          String(count),
          ...SCORES.map((_, k) => WAYS.map((way) => fixed(errors[step]?.[way][k] ?? NaN, 2)).join(' | ')),
        ]),
      },
    ],
  };
}

async function errorsWithout({ world, model }: Context, full: Population, count: number): Promise<Errors> {
  const worn = world.simulate(PEOPLE, DAYS, {
    isComplete: true,
    wear: (session, person) => without(session, orderOf(person.id).slice(0, count)),
  });
  const { targets } = await rollOut(model, worn);
  const errors = async (sessions: number): Promise<number[]> => {
    const scores = await scoreDay(model, worn, targets, LAST, sessions);
    return SCORES.map((_, k) => rms(expectedOf({ people: full, day: LAST }, k), dayColumn(scores, k)));
  };
  return { alone: await errors(0), together: await errors(LAST) };
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

/** One person's day in every subset of its fields: how many are not scored in range. */
async function badSubsets({ world, model }: Context): Promise<number> {
  const recordings: Recording[] = [];
  world.simulate(1, 1, { isComplete: true, look: (recording) => recordings.push(recording) });
  const [recording] = recordings;
  if (recording === undefined) throw new Error('nothing recorded');
  const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
  const scores = await model.scoreRows('base', 2 ** FIELDS_OF_A_SESSION.length, (inputs, row, subset) => {
    const removed = FIELDS_OF_A_SESSION.filter((_, bit) => ((subset >> bit) & 1) === 1);
    const session = without(recording.session, removed);
    writeRow(parser, { ...recording, session }, inputs.session, row * FEATURE_COUNT);
  });
  return scores.filter((score) => !(score >= 0 && score <= 100)).length;
}
