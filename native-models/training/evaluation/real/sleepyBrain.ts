import { join } from 'node:path';
import { PAST_MAX } from '#rules/fields.js';
import type { Session } from '#acuity/contract/request.js';
import { COLUMN, recordOf, type ServedModel } from '../../served.js';
import { centred, correlation } from '../leastSquares.js';
import { demand, fixed, interval, type Table } from '../section.js';
import { bootstrap, mean, sd, type Estimate } from '../statistics.js';
import { groupRows, numberOf, readCsv, type Row } from './csv.js';
import type { RealFinding } from './finding.js';

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
  const own = estimate(pairs, (pair) => pair.alone, within);
  const minutes = estimate(pairs, (pair) => pair.asleepMin, within);
  return {
    demands: [
      demand(
        'SleepyBrain: speed goes with attention from the night before, within a person (correlation, interval above 0)',
        interval(own, DIGITS),
        own.low > 0,
        `coin 0; minutes asleep ${interval(minutes, DIGITS)}`,
      ),
    ],
    tables: [associations(pairs), falls(pairs)],
    figures: [],
    decisive: Object.fromEntries([
      ...sizeOf(pairs),
      ...[...AGE.keys()].flatMap((group) => {
        const of = pairs.filter(({ full }) => full.group === group);
        return [
          [
            `SleepyBrain fall, ${group}`,
            mean(of.map(({ full, short }) => full.percentile - short.percentile)),
          ],
          [`SleepyBrain served fall, ${group}`, mean(of.map(({ known }) => known.full - known.short))],
        ];
      }),
    ]),
  };
}

/** The fall in the data divided by the served one, over all people, and its standard error. */
function sizeOf(pairs: readonly Pair[]): [string, number][] {
  const served = mean(pairs.map(({ known }) => known.full - known.short));
  const ratios = pairs.map(({ full, short }) => (full.percentile - short.percentile) / served);
  return [
    ['SleepyBrain people', pairs.length],
    ['SleepyBrain size', mean(ratios)],
    ['SleepyBrain size error', sd(ratios) / Math.sqrt(pairs.length)],
  ];
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
  const scores = await model.score({
    current_session: today.session,
    past_sessions: past,
    past_targets: past.map(() => target),
  });
  return scores[COLUMN.attention] ?? NaN;
}

type Of = (one: Tested, other: Tested) => number;
type Correlate = (pairs: readonly Pair[], of: Of) => number;

const pooled: Correlate = (pairs, of) =>
  correlation(
    pairs.flatMap(({ full, short }) => [of(full, short), of(short, full)]),
    pairs.flatMap(({ full, short }) => [full.percentile, short.percentile]),
  );

/** Of two sessions a person only their difference is left. */
const within: Correlate = (pairs, of) =>
  correlation(
    pairs.flatMap(({ full, short }) => [...centred([of(full, short), of(short, full)])]),
    pairs.flatMap(({ full, short }) => [...centred([full.percentile, short.percentile])]),
  );

function estimate(pairs: readonly Pair[], of: Of, correlate: Correlate): Estimate {
  return bootstrap(pairs.length, (chosen) => correlate(chosenOf(pairs, chosen), of));
}

function chosenOf(pairs: readonly Pair[], chosen: Int32Array): Pair[] {
  return [...chosen].flatMap((index) => pairs[index] ?? []);
}

function associations(pairs: readonly Pair[]): Table {
  const row = (name: string, of: Pair[], correlate: Correlate, hasOther: boolean): string[] => {
    const say = (value: Of): string => interval(estimate(of, value, correlate), DIGITS);
    return [
      name,
      String(of.length),
      say((one) => one.alone),
      '0',
      say((one) => one.asleepMin),
      hasOther ? say((_, other) => other.speed) : '–',
    ];
  };
  const groups = [...AGE.keys()].map(
    (group) => [group, pairs.filter(({ full }) => full.group === group)] as const,
  );
  return {
    caption:
      'SleepyBrain, correlation of vigilance speed (percentile of the age group) with what is known of the night before [95 %, over people]',
    header: ['', 'people', 'attention', 'coin', 'minutes asleep', 'speed of the other session'],
    rows: [
      row('within a person', [...pairs], within, false),
      ...groups.map(([group, of]) => row(`within a person, ${group.toLowerCase()}`, of, within, false)),
      row('all sessions together', [...pairs], pooled, true),
      ...groups.map(([group, of]) => row(`all sessions, ${group.toLowerCase()}`, of, pooled, true)),
    ],
  };
}

function falls(pairs: readonly Pair[]): Table {
  const fall = (of: readonly Pair[], value: (pair: Pair) => number): string =>
    interval(
      bootstrap(of.length, (chosen) => mean(chosenOf(of, chosen).map(value))),
      1,
    );
  return {
    caption:
      'SleepyBrain, fall after the short night, percentiles [95 %, over people]; served with the same nights',
    header: [
      '',
      'people',
      'minutes asleep, full | short',
      'fall, data',
      'attention, no history',
      'attention, five full nights before',
      'always 50',
    ],
    rows: [...AGE.keys()].map((group) => {
      const of = pairs.filter(({ full }) => full.group === group);
      const asleep = (night: 'full' | 'short'): string =>
        fixed(mean(of.map((pair) => pair[night].asleepMin)), 0);
      return [
        group,
        String(of.length),
        `${asleep('full')} | ${asleep('short')}`,
        fall(of, ({ full, short }) => full.percentile - short.percentile),
        fall(of, ({ full, short }) => full.alone - short.alone),
        fall(of, ({ known }) => known.full - known.short),
        '0',
      ];
    }),
  };
}
