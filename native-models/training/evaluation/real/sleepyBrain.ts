import type { Session } from '#acuity/contract/request.js';
import { adjusted, adjustmentOf, evidenceOf, latentOf, standingOf } from '#acuity/night/measured.js';
import { PAST_MAX } from '#rules/fields.js';
import { COLUMN, recordOf, type ServedModel } from '../../served.js';
import type { Judged } from '../context.js';
import { scoreAfter } from '../requests.js';
import { demand, fixed, interval } from '../section.js';
import { bootstrapOf, centred, correlation, mean, type Estimate } from '../statistics.js';
import { groupRows, numberOf, orNull, readCsv, type RealFinding, type Row } from './dataSet.js';

/** SleepyBrain (OpenNeuro ds000201): sleep laboratory nights, a full one and one of some 3 h, and a vigilance test after each. */
const FILE = 'sleepy_brain/sessions.csv';
/** The middles of the two age groups; the set gives no age. */
const AGE: Readonly<Record<string, number>> = { Young: 25, Old: 70 };

/** A session with a test. */
interface Tested {
  readonly group: string;
  readonly isShort: boolean;
  /** NaN where the night was not recorded. */
  readonly asleepMin: number;
  readonly speed: number;
  readonly session: Session;
}

/** One session of a pair. */
interface Night extends Tested {
  /** Of the full nights' sessions of the same age group, how many were slower. */
  readonly percentile: number;
  /** Attention without history, and with five full nights before it. */
  readonly alone: number;
  readonly known: number;
  /** Error of always 50, of the other session's test drawn towards 50, and of it as a measurement: percentile points. */
  readonly errors: { readonly always: number; readonly shrunk: number; readonly measured: number };
}
type Pair = readonly [full: Night, short: Night];

/** Whether vigilance goes with the night, and the test of one session tells that of the other. */
export async function sleepyBrain(
  folder: string,
  { model, bundle }: Pick<Judged, 'model' | 'bundle'>,
): Promise<RealFinding | undefined> {
  const rows = readCsv(folder, FILE);
  const reliability = bundle.manifest.measured?.reliability.attention;
  if (rows === undefined || reliability === undefined) return undefined;
  const judged = { model, reliability };
  const people = [...groupRows(rows, 'person').values()].map((sessions) => sessions.flatMap(readTest));
  const rested = people.flat().filter(({ isShort }) => !isShort);
  const tested: Pair[] = [];
  for (const sessions of people) {
    const [full, short] = [false, true].map((isShort) => sessions.find((one) => one.isShort === isShort));
    if (full === undefined || short === undefined) continue;
    tested.push([
      await judge(full, short, full, rested, judged),
      await judge(short, full, full, rested, judged),
    ]);
  }
  const slept = tested.filter((pair) => pair.every(({ asleepMin }) => Number.isFinite(asleepMin)));
  const own = within(slept, ({ alone }) => alone);
  const error = (of: (errors: Night['errors']) => number): Estimate =>
    bootstrapOf(tested, (pairs) => mean(pairs.flat().map(({ errors }) => of(errors))));
  const [measured, always] = [error((errors) => errors.measured), error((errors) => errors.always)];
  const worse = error((errors) => errors.measured - errors.shrunk);
  const groups = Object.keys(AGE)
    .map((group) => ({ group, pairs: slept.filter(([full]) => full.group === group) }))
    .filter(({ pairs }) => pairs.length > 0);
  const fall = (of: (night: Night) => number) => (pairs: readonly Pair[]) =>
    mean(pairs.map(([full, short]) => of(full) - of(short)));
  const [inData, served] = [fall(({ percentile }) => percentile), fall(({ known }) => known)];
  return {
    demands: [
      demand(
        'SleepyBrain: speed goes with attention from the night before, within a person (correlation, interval above 0)',
        `${interval(own, 2)}; minutes asleep ${interval(
          within(slept, ({ asleepMin }) => asleepMin),
          2,
        )}, a coin 0`,
        own.low > 0,
      ),
      demand(
        'SleepyBrain, the other session’s speed as a measurement: mean error below always 50',
        `${interval(measured, 1)}; always 50: ${interval(always, 1)}`,
        measured.high < always.low,
      ),
      demand(
        'SleepyBrain: mean error not shown to be above that of the number alone, drawn towards 50 (difference, interval not above 0)',
        interval(worse, 2),
        worse.low <= 0,
      ),
    ],
    figures: [
      ...groups.map(({ group, pairs }): [string, string] => [
        `Fall of vigilance after some 3 h of sleep (SleepyBrain, ${pairs.length} ${group.toLowerCase()} people), percentiles; by the network`,
        [inData, served].map((of) => interval(bootstrapOf(pairs, of), 1)).join('; '),
      ]),
      [
        'Mean error of vigilance with one real test of another day (SleepyBrain), percentiles; of always saying 50',
        `${fixed(measured.value, 1)}; ${fixed(always.value, 1)}`,
      ],
    ],
  };
}

function readTest(row: Row): Tested[] {
  const asleepMin = numberOf(row, 'psg_tst_min');
  const speed = numberOf(row, 'pvt_speed_per_s');
  if (!Number.isFinite(speed)) return [];
  const group = row.get('age_group') ?? '';
  const stage = (...names: string[]): number | null =>
    orNull(Math.round(60 * asleepMin * names.reduce((sum, name) => sum + numberOf(row, name) / 100, 0)));
  const session: Session = {
    sleepTimeSeconds: orNull(Math.round(60 * asleepMin)),
    deepSleepSeconds: stage('psg_n3_pct'),
    remSleepSeconds: stage('psg_rem_pct'),
    lightSleepSeconds: stage('psg_n1_pct', 'psg_n2_pct'),
    awakeSleepSeconds: orNull(60 * numberOf(row, 'psg_waso_min')),
    age: AGE[group] ?? null,
    sex: row.get('sex') === 'Female' ? 'F' : 'M',
  };
  return [{ group, isShort: row.get('restricted') === '1', asleepMin, speed, session }];
}

async function judge(
  today: Tested,
  other: Tested,
  full: Tested,
  rested: readonly Tested[],
  { model, reliability }: { readonly model: ServedModel; readonly reliability: number },
): Promise<Night> {
  const percentileOf = ({ group, speed }: Tested): number =>
    100 *
    mean(
      rested
        .filter((one) => one.group === group)
        .map((one) => (one.speed < speed ? 1 : one.speed === speed ? 0.5 : 0)),
    );
  const attentionOf = (scores: Float32Array): number => scores[COLUMN.attention] ?? NaN;
  const target = recordOf(await model.score({ current_session: full.session }));
  const past = Array.from({ length: PAST_MAX }, () => full.session);
  const before = recordOf(await model.score({ current_session: other.session }));
  const [percentile, test] = [percentileOf(today), percentileOf(other)];
  // The other session before it and its test as a measurement, as a history would have both.
  const after = attentionOf(await scoreAfter(model, today.session, [other.session], [before]));
  const evidence = evidenceOf(
    standingOf('attention', test),
    latentOf('attention', before.attention),
    reliability,
    1,
  );
  const adjustment = adjustmentOf(evidence);
  if (adjustment === undefined) throw new Error('a measurement without weight');
  const error = (value: number): number => Math.abs(value - percentile);
  return {
    ...today,
    percentile,
    alone: attentionOf(await model.score({ current_session: today.session })),
    known: attentionOf(
      await scoreAfter(
        model,
        today.session,
        past,
        past.map(() => target),
      ),
    ),
    errors: {
      always: error(50),
      shrunk: error(50 + reliability * (test - 50)),
      measured: error(adjusted('attention', after, adjustment.base, adjustment.scale)),
    },
  };
}

/** Correlation with the percentile: of two sessions a person only their difference is left. */
function within(pairs: readonly Pair[], of: (night: Night) => number): Estimate {
  const centredOf = (some: readonly Pair[], value: (night: Night) => number) =>
    some.flatMap((pair) => [...centred(pair.map(value))]);
  return bootstrapOf(pairs, (some) =>
    correlation(
      centredOf(some, of),
      centredOf(some, ({ percentile }) => percentile),
    ),
  );
}
