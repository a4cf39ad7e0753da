import type { Kind, Span } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { durations, UNIT_S } from '../durations.js';
import { recordsOf, type Field, type Sent } from '../field.js';
import { pieceRecords, type SentPiece } from '../pieces.js';
import {
  sleepRecords,
  type Left,
  type Records,
  type SentSleep,
  type SleepDetails,
  type SleepRecord,
} from '../records.js';
import { seriesOfEach, type Series } from '../series.js';

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
const STAGES: Readonly<Record<string, Kind | 'inbed'>> = {
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

/** The session of Health Auto Export's data. */
export const fromHealthAutoExport = /* @__PURE__ */ adapter('health_auto_export', ['export'], recordsIn);

function recordsIn(sent: Sent<HealthAutoExportInput>): Records {
  const metrics = metricsOf(sent('export'));
  const named = (name: string) => metrics.filter((metric) => metric.get('name').text() === name);
  const sleeps = named('sleep_analysis');
  const left: Left[] = [];
  const samples = (name: string) => named(name).flatMap((metric) => samplesOf(metric, left));
  return {
    sleeps: sleeps.length === 0 ? undefined : (max) => sleeps.flatMap((metric) => sleepsOf(metric, max)),
    heart: samples('heart_rate'),
    breath: samples('respiratory_rate'),
    left,
  };
}

function metricsOf(sent: Field): Field[] {
  const what = 'what the app sends, with data.metrics, or a list of such';
  return sent
    .oneOrItems()
    .flatMap((body) => recordsOf(body, { list: ['data', 'metrics'], what }) ?? body.expected(what));
}

function samplesOf(metric: Field, left: Left[]): Series[] {
  const list = metric.get('data');
  const items = list.items();
  const areOfDays = items.length > 0 && items.every(isOfDay);
  if (areOfDays)
    left.push({ what: list.place, why: 'its samples are those of whole days: export by minutes' });
  const unit = metric.get('units');
  const factor = areOfDays ? 1 : (unit.named(PER_MINUTE) ?? unit.fail('expected count/min'));
  const value = (one: Field) => {
    const average = one.get('Avg').number() ?? one.get('qty').number();
    return average === undefined ? undefined : average * factor;
  };
  return seriesOfEach(list, areOfDays ? [] : items, 'date', value, (one) => one.get('source').text());
}

/** The app dates the average of a day with the date alone, or with its local midnight to the second. */
function isOfDay(sample: Field): boolean {
  return /^\d{4}-\d\d-\d\d(?:[T ]00:00:00(?!\.).*)?$/.test(sample.get('date').text() ?? '');
}

function sleepsOf(metric: Field, unreadableMax: number | undefined): SleepRecord[] {
  const items = metric.get('data').items();
  const isPiece = (one: Field) => one.has('startDate') || (one.has('start') && one.has('value'));
  const nights = items.filter((one) => !isPiece(one));
  const all = [
    sleepRecords(nights, (one) => nightOf(one, metric.get('units'))),
    pieceRecords(items.filter(isPiece), stageOf),
  ];
  return all.flatMap((sleeps) => sleeps?.(unreadableMax) ?? []);
}

/** Aggregated: the sums of a night. */
function nightOf(field: Field, units: Field): SentSleep {
  const source = field.get('source').text() ?? field.get('sleepSource').text();
  const read = (span: Span): SleepDetails => {
    const unit = units.named(UNITS) ?? units.fail('expected hr');
    const { isInBed, ...sums } = sumsOf(field, (span.toMs - span.fromMs) / 1000 / UNIT_S[unit]);
    const details = durations(field, span, unit, sums);
    const awake = { what: `${field.place}.awake`, why: IN_BED };
    return isInBed ? { ...details, left: [...(details.left ?? []), awake] } : details;
  };
  const [from, to] = [field.get('sleepStart'), field.get('sleepEnd')];
  return { field, from, to, source: source === '' ? undefined : source, read };
}

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

function stageOf(field: Field): SentPiece | undefined {
  const value = field.get('value');
  const stage =
    value.as((value.text() ?? '').replaceAll(' ', '').toLowerCase()).named(STAGES) ??
    value.fail('expected Awake, Asleep, In Bed, Core, REM, Deep or Unspecified');
  if (stage === 'inbed') return undefined;
  const [begin, end] = field.has('start') ? (['start', 'end'] as const) : (['startDate', 'endDate'] as const);
  return { stage, from: field.get(begin), to: field.get(end), source: field.get('source').text() };
}
