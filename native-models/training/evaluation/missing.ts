import { FEATURE_COUNT } from '#acuity/contract/features.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { DEFAULT_SERIES_LIMITS, FIELDS_OF_A_SESSION } from '#rules/fields.js';
import { Random } from '../cohort/random.js';
import { without } from '../cohort/recordings.js';
import { writeRow } from '../cohort/row.js';
import type { Recording } from '../cohort/sensor.js';
import { recordOf } from '../served.js';
import { SCORES, type Judged } from './context.js';
import { lastDay } from './rollout.js';
import { demand, fixed, type Section } from './section.js';
import { mean, rms } from './statistics.js';

const PEOPLE = 3_000;
const DAYS = 6;
const STEPS = [0, 2, 4, 6, 8, 10, 12, 14, 16] as const;
const WAYS = ['alone', 'together'] as const;
const SEED = 11;

type Errors = Readonly<Record<(typeof WAYS)[number], readonly number[]>>;

/** Point 5: any subset is answered, and more fields give less error. */
export async function missing(judged: Judged): Promise<Section> {
  const errors: Errors[] = [];
  for (const count of STEPS) errors.push(await errorsWithout(judged, count));
  const nothing = recordOf(await judged.model.score({ current_session: {} }));
  const bad = await badSubsets(judged);
  return {
    number: 5,
    title: 'Missing data',
    why: 'What is lost with each missing field? Each person loses fields in an order of their own, the same in all sessions.',
    demands: [
      ...WAYS.map((way) => {
        const curve = errors.map((one) => mean(one[way]));
        return demand(
          `error rises with each two fields removed, ${way === 'alone' ? 'no history' : 'five sessions'}`,
          curve.map((error) => fixed(error, 2)).join(' → '),
          curve.every((error, index) => index === 0 || error > (curve[index - 1] ?? 0)),
        );
      }),
      demand(
        'all subsets of the sixteen fields give finite scores in range',
        `${bad} of ${2 ** FIELDS_OF_A_SESSION.length} do not`,
        bad === 0,
      ),
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

async function errorsWithout({ world, model }: Judged, count: number): Promise<Errors> {
  const worn = world.simulate(PEOPLE, DAYS, {
    isComplete: true,
    // One order for each person: the first two of it are among the first four.
    wear: (session, { id }) => without(session, new Random(SEED, id).some(FIELDS_OF_A_SESSION, count)),
  });
  const found = await lastDay(model, worn);
  const of = (way: (typeof WAYS)[number]) =>
    SCORES.map((_, k) => rms(found.expected[k] ?? [], found[way][k] ?? []));
  return { alone: of('alone'), together: of('together') };
}

/** One person's day in every subset of its fields: how many are not scored in range. */
async function badSubsets({ world, model }: Judged): Promise<number> {
  let recording: Recording | undefined;
  world.simulate(1, 1, { isComplete: true, look: (seen) => (recording = seen) });
  const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
  const scores = await model.scoreRows('base', 2 ** FIELDS_OF_A_SESSION.length, (inputs, row, subset) => {
    if (recording === undefined) throw new Error('nothing recorded');
    const removed = FIELDS_OF_A_SESSION.filter((_, bit) => ((subset >> bit) & 1) === 1);
    const session = without(recording.session, removed);
    writeRow(parser, { ...recording, session }, inputs.session, row * FEATURE_COUNT);
  });
  return scores.filter((score) => !(score >= 0 && score <= 100)).length;
}
