import type { Stage } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { fieldsOf, recordsOf, spanOf, timesOf, type Field } from '../field.js';
import { sleepsOfPieces, type Piece } from '../pieces.js';
import type { Left, Records, SleepDetails, SleepRecord } from '../records.js';
import { Series, series } from '../series.js';

/**
 * Health Auto Export (an app that sends the data of Apple Health): its JSON,
 * https://help.healthyapps.dev/en/health-auto-export/export-format/health-metrics and
 * https://github.com/Lybron/health-auto-export/wiki/API-Export---JSON-Format, 2026-11-22.
 */
export interface HealthAutoExportInput extends AdapterOptions {
  /** The body that the app sent, `{"data": {"metrics": […]}}`, or a list of such bodies. */
  readonly export?: unknown;
}

/** Unaggregated values, without spaces, in lower case. In bed is no sleep, and overlaps the others. */
const STAGES: Readonly<Record<string, Stage | 'asleep' | 'inbed'>> = {
  deep: 'deep',
  rem: 'rem',
  core: 'light',
  awake: 'awake',
  asleep: 'asleep',
  unspecified: 'asleep',
  inbed: 'inbed',
};
const UNITS = { hr: 'hours', h: 'hours', min: 'minutes', s: 'seconds' } as const;
const PER_MINUTE: Readonly<Record<string, number>> = { 'count/min': 1, bpm: 1, 'count/s': 60 };
const DAY_MS = 86_400_000;

/** The session of Health Auto Export's data. */
export const fromHealthAutoExport = /* @__PURE__ */ adapter('health_auto_export', ['export'], recordsIn);

function recordsIn(input: HealthAutoExportInput): Records {
  const metrics = metricsOf(fieldsOf(input)('export'));
  const named = (name: string) => metrics.filter((metric) => metric.get('name').text() === name);
  const sleeps = named('sleep_analysis');
  const [heart, breath] = ['heart_rate', 'respiratory_rate'].map((name) => named(name).map(samplesOf));
  return {
    sleeps: sleeps.length === 0 ? undefined : sleeps.flatMap(recordsOfMetric),
    heart: heart?.map((one) => one.series),
    breath: breath?.map((one) => one.series),
    left: [...(heart ?? []), ...(breath ?? [])].flatMap((one) => one.left),
  };
}

function metricsOf(sent: Field): Field[] {
  const what = 'what the app sends, with data.metrics, or a list of such';
  return sent
    .oneOrItems()
    .flatMap((body) => recordsOf(body, { list: ['data', 'metrics'], what }) ?? body.expected(what));
}

interface Samples {
  readonly series: Series;
  readonly left: readonly Left[];
}

function samplesOf(metric: Field): Samples {
  const list = metric.get('data');
  const items = list.items();
  if (items.length > 0 && items.every(isOfDay))
    return {
      series: new Series(list, () => []),
      left: [{ what: list.place, why: 'its samples are those of whole days: export by minutes' }],
    };
  const unit = metric.get('units');
  const factor = unit.named(PER_MINUTE) ?? unit.fail('expected count/min');
  const value = (one: Field) => {
    const average = one.get('Avg').number() ?? one.get('qty').number();
    return average === undefined ? undefined : average * factor;
  };
  return { series: series(list, items, (one) => one.get('date').moment(), value), left: [] };
}

/** The app dates the average of a day with the date alone, or with its local midnight to the second. */
function isOfDay(sample: Field): boolean {
  return /^\d{4}-\d\d-\d\d(?:[T ]00:00:00(?!\.).*)?$/.test(sample.get('date').text() ?? '');
}

function recordsOfMetric(metric: Field): SleepRecord[] {
  const items = metric.get('data').items();
  const isPieces = (one: Field) => one.has('startDate') || (one.has('start') && one.has('value'));
  const pieces = items.filter(isPieces).flatMap(pieceOf);
  return [
    ...items.filter((one) => !isPieces(one)).map((one) => nightOf(one, metric.get('units'))),
    ...sleepsOfPieces(pieces),
  ];
}

/** Aggregated: the sums of a night. */
function nightOf(field: Field, units: Field): SleepRecord {
  const span = timesOf(field.get('sleepStart'), field.get('sleepEnd'));
  const source = field.get('source').text() ?? field.get('sleepSource').text();
  const read = (): SleepDetails => {
    const unit = units.named(UNITS) ?? units.fail('expected hr');
    const { isInBed, ...sums } = sumsOf(field, (span.toMs - span.fromMs) / UNIT_MS[unit]);
    const details = durations(field, span, unit, sums);
    const awake = { what: `${field.place}.awake`, why: IN_BED };
    return isInBed ? { ...details, left: [...(details.left ?? []), awake] } : details;
  };
  return { field, ...span, source: source === '' ? undefined : source, read };
}

const UNIT_MS = { hours: 3_600_000, minutes: 60_000, seconds: 1000 } as const;
const IN_BED = 'does not fit into the sleep beside the time asleep: it is that of the time in bed';

/** @param length  length of the sleep, in the unit of the sums */
function sumsOf(field: Field, length: number) {
  const [deep, rem, light, awake, asleep, stated] = SUMS.map((name) => field.get(name).number());
  const staged = (deep ?? 0) + (rem ?? 0) + (light ?? 0);
  const fits = (total: number) => total + (awake ?? 0) <= length * 1.02;
  // Beside stages "asleep" is what has no stage, in some versions all of it; and some totals have the time awake in them.
  const both = staged + (asleep ?? 0);
  const known = fits(both) ? both : Math.max(staged, asleep ?? 0);
  const total = stated === undefined || (!fits(stated) && staged > 0 && fits(staged)) ? known : stated;
  // A phone alone knows when somebody lay in bed: all at zero is not known, and not a night without sleep.
  if (total === 0) return { isInBed: false };
  const isInBed = awake !== undefined && awake > 0 && !fits(total);
  const isAwakeKnown = !isInBed && (staged > 0 || awake !== 0);
  return {
    isInBed,
    ...(staged > 0 && { deep, rem, light }),
    ...(isAwakeKnown && { awake }),
    asleep: total,
  };
}

const SUMS = ['deep', 'rem', 'core', 'awake', 'asleep', 'totalSleep'] as const;

function pieceOf(field: Field): Piece[] {
  const value = field.get('value');
  const stage =
    value.as((value.text() ?? '').replaceAll(' ', '').toLowerCase()).named(STAGES) ??
    value.fail('expected Awake, Asleep, In Bed, Core, REM, Deep or Unspecified');
  if (stage === 'inbed') return [];
  const [begin, end] = field.has('start') ? (['start', 'end'] as const) : (['startDate', 'endDate'] as const);
  const { fromMs: from, toMs: to, eastMs } = spanOf(field.get(begin), field.get(end));
  const source = field.get('source').text() ?? '';
  return to > from && to - from <= DAY_MS ? [{ field, stage, from, to, eastMs, source }] : []; // prettier-ignore
}
