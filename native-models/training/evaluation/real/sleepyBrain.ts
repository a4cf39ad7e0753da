import { join } from 'node:path';
import { PAST_MAX } from '#rules/fields.js';
import type { Session } from '#acuity/contract/request.js';
import { COLUMN, recordOf, type ServedModel } from '../../served.js';
import { centred, correlation } from '../leastSquares.js';
import { scoreAfter } from '../requests.js';
import { demand, interval, type Table } from '../section.js';
import { bootstrap, mean, type Estimate } from '../statistics.js';
import { groupRows, numberOf, readCsv, type Row } from './csv.js';
import type { RealFinding } from './validationData.js';

/** SleepyBrain (OpenNeuro ds000201): sleep laboratory nights, a full one and one of some 3 h, and a vigilance test after each. */
const FILE = 'sleepy_brain/sessions.csv';
/** The middles of the two age groups; the set gives no age. */
const AGE = new Map([
  ['Young', 25],
  ['Old', 70],
]);
const DIGITS = 2;

/** A session with a measured night and a test. */
export interface Tested {
  readonly group: string;
  readonly isShort: boolean;
  readonly asleepMin: number;
  readonly speed: number;
  /** Of the full nights' sessions of the same age group, how many were slower. */
  readonly percentile: number;
  readonly session: Session;
  readonly alone: number;
}
type Read = Omit<Tested, 'percentile' | 'alone'>;

/** A person with both nights measured. */
interface Pair {
  readonly full: Tested;
  readonly short: Tested;
  /** Attention on the day of the short night and of the full one, five full nights known before it. */
  readonly known: { readonly full: number; readonly short: number };
}

export async function sleepyBrain(folder: string, model: ServedModel): Promise<RealFinding | undefined> {
  const rows = readCsv(join(folder, FILE));
  if (rows === undefined) return undefined;
  const pairs: Pair[] = [];
  for (const [full, short] of await pairsOf(rows, model, readSession)) {
    const known = {
      full: await attentionAfter(model, full, full),
      short: await attentionAfter(model, full, short),
    };
    pairs.push({ full, short, known });
  }
  const own = within(pairs, ({ alone }) => alone);
  const minutes = within(pairs, ({ asleepMin }) => asleepMin);
  return {
    demands: [
      demand(
        'SleepyBrain: speed goes with attention from the night before, within a person (correlation, interval above 0)',
        interval(own, DIGITS),
        own.low > 0,
        `coin 0; minutes asleep ${interval(minutes, DIGITS)}`,
      ),
    ],
    tables: [table(pairs)],
    decisive: Object.fromEntries(
      [...AGE.keys()].flatMap((group) => {
        const of = pairs.filter(({ full }) => full.group === group);
        return [
          [
            `SleepyBrain fall, ${group}`,
            mean(of.map(({ full, short }) => full.percentile - short.percentile)),
          ],
          [`SleepyBrain served fall, ${group}`, mean(of.map(({ known }) => known.full - known.short))],
        ];
      }),
    ),
  };
}

/**
 * Everybody's full and short night with the test after each, also where a night was not recorded; undefined where the
 * data are not in the folder.
 */
export async function sleepyTests(
  folder: string,
  model: ServedModel,
): Promise<[full: Tested, short: Tested][] | undefined> {
  const rows = readCsv(join(folder, FILE));
  return rows === undefined ? undefined : pairsOf(rows, model, readTest);
}

async function pairsOf(
  rows: readonly Row[],
  model: ServedModel,
  read: (row: Row) => Read[],
): Promise<[Tested, Tested][]> {
  const people = [...groupRows(rows, 'person').values()].map((sessions) => sessions.flatMap(read));
  const rested = people.flat().filter(({ isShort }) => !isShort);
  const pairs: [Tested, Tested][] = [];
  for (const sessions of people) {
    const tested: Tested[] = [];
    for (const one of sessions) {
      const scores = await model.score({ current_session: one.session });
      tested.push({ ...one, percentile: percentileOf(one, rested), alone: scores[COLUMN.attention] ?? NaN });
    }
    const [full, short] = [tested.find(({ isShort }) => !isShort), tested.find(({ isShort }) => isShort)];
    if (full !== undefined && short !== undefined) pairs.push([full, short]);
  }
  return pairs;
}

function readSession(row: Row): Read[] {
  return readTest(row).filter(({ asleepMin }) => Number.isFinite(asleepMin));
}

function readTest(row: Row): Read[] {
  const asleepMin = numberOf(row, 'psg_tst_min');
  const speed = numberOf(row, 'pvt_speed_per_s');
  if (!Number.isFinite(speed)) return [];
  const group = row.get('age_group') ?? '';
  const stage = (...names: string[]): number =>
    Math.round(60 * asleepMin * names.reduce((sum, name) => sum + numberOf(row, name) / 100, 0));
  const [deep, rem, light] = [stage('psg_n3_pct'), stage('psg_rem_pct'), stage('psg_n1_pct', 'psg_n2_pct')];
  const session: Session = {
    sleepTimeSeconds: orNull(Math.round(60 * asleepMin)),
    deepSleepSeconds: orNull(deep),
    remSleepSeconds: orNull(rem),
    lightSleepSeconds: orNull(light),
    awakeSleepSeconds: orNull(60 * numberOf(row, 'psg_waso_min')),
    age: AGE.get(group) ?? null,
    sex: row.get('sex') === 'Female' ? 'F' : 'M',
  };
  return [{ group, isShort: row.get('restricted') === '1', asleepMin, speed, session }];
}

function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function percentileOf({ group, speed }: Read, rested: readonly Read[]): number {
  const others = rested.filter((other) => other.group === group);
  return 100 * mean(others.map((other) => (other.speed < speed ? 1 : other.speed === speed ? 0.5 : 0)));
}

/** Attention with the full night as each of five sessions before, and their scores as past targets. */
async function attentionAfter(model: ServedModel, usual: Tested, today: Tested): Promise<number> {
  const past = Array.from({ length: PAST_MAX }, () => usual.session);
  const target = recordOf(await model.score({ current_session: usual.session }));
  return (await scoreAfter(model, today.session, past, past.map(() => target)))[COLUMN.attention] ?? NaN; // prettier-ignore
}

/** Of two sessions a person only their difference is left. */
function within(pairs: readonly Pair[], of: (one: Tested) => number): Estimate {
  const correlate = (some: readonly Pair[]): number =>
    correlation(
      some.flatMap(({ full, short }) => [...centred([of(full), of(short)])]),
      some.flatMap(({ full, short }) => [...centred([full.percentile, short.percentile])]),
    );
  return bootstrap(pairs.length, (chosen) => correlate(chosenOf(pairs, chosen)));
}

function chosenOf(pairs: readonly Pair[], chosen: Int32Array): Pair[] {
  return [...chosen].flatMap((index) => pairs[index] ?? []);
}

function table(pairs: readonly Pair[]): Table {
  return {
    caption:
      'SleepyBrain, within a person: fall after the short night in percentiles, data and served with five full nights before it, and correlation of speed with what is known of the night [95 %, over people]',
    header: ['', 'people', 'fall, data', 'fall, served', 'correlation, attention', 'minutes asleep'],
    rows: [...AGE.keys()].flatMap((group) => {
      const of = pairs.filter(({ full }) => full.group === group);
      if (of.length === 0) return [];
      const fall = (value: (pair: Pair) => number): string =>
        interval(bootstrap(of.length, (chosen) => mean(chosenOf(of, chosen).map(value))), 1); // prettier-ignore
      return [
        [
          group,
          String(of.length),
          fall(({ full, short }) => full.percentile - short.percentile),
          fall(({ known }) => known.full - known.short),
          interval(within(of, ({ alone }) => alone), DIGITS), // prettier-ignore
          interval(within(of, ({ asleepMin }) => asleepMin), DIGITS), // prettier-ignore
        ],
      ];
    }),
  };
}
