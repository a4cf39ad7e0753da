import type { Stage } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { fieldsOf, recordsOf, spanOf, timesOf, type Field } from '../field.js';
import { firstFrom, grouped } from '../ordered.js';
import { readEach, sleepsOfPieces, type Piece } from '../pieces.js';
import type { Records, SleepRecord } from '../records.js';
import { series } from '../series.js';

/**
 * The Flutter package `health`: its points as their `toJson` writes them, from either platform; the names of version 13,
 * and those of 10 with `_`, 2026-11-28. Times are written without an offset where the app did not make them UTC.
 */
export interface FlutterHealthInput extends AdapterOptions {
  /** Points of `getHealthDataFromTypes`. */
  readonly points?: unknown;
}

/** A session, and time in bed, are no sleep: they only say from when to when. */
const STAGES: Readonly<Record<string, Stage | 'asleep'>> = {
  SLEEP_DEEP: 'deep',
  SLEEP_REM: 'rem',
  SLEEP_LIGHT: 'light',
  SLEEP_AWAKE: 'awake',
  SLEEP_AWAKE_IN_BED: 'awake',
  SLEEP_OUT_OF_BED: 'awake',
  SLEEP_ASLEEP: 'asleep',
};
const SESSION = 'SLEEP_SESSION';
const [HEART, BREATH] = ['HEART_RATE', 'RESPIRATORY_RATE'];

/** The session of the package's points. */
export const fromFlutterHealth = /* @__PURE__ */ adapter('flutter_health', ['points'], recordsIn);

function recordsIn(input: FlutterHealthInput): Records {
  const sent = fieldsOf(input)('points');
  const points = recordsOf(sent, { isList: true, what: 'a list of points, with type, value and dateFrom' });
  const ofType = grouped(points ?? [], (point) => point.get('type').text());
  const of = (type: string) => ofType.get(type) ?? [];
  const slept = Object.keys(STAGES).flatMap(of);
  const { found: pieces, unread } = readEach(slept, pieceOf);
  const begun = pieces.map(({ from }) => from).toSorted((a, b) => a - b);
  const isStaged = ({ fromMs, toMs }: SleepRecord) =>
    (begun[firstFrom(fromMs, begun, (from) => from)] ?? Infinity) < toMs;
  const sessions = of(SESSION)
    .map(sessionOf)
    .filter((session) => !isStaged(session));
  const samples = (type: string) =>
    series(sent, of(type), (point) => either(point, 'dateFrom').moment(), valueOf);
  return {
    sleeps: points && [...sleepsOfPieces(pieces), ...sessions],
    heart: [samples(HEART)],
    breath: [samples(BREATH)],
    unread,
  };
}

/** A field under its name, or as version 10 wrote it: `date_from`. */
function either(field: Field, name: string): Field {
  const found = field.get(name);
  return found.isAbsent
    ? field.get(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    : found;
}

function valueOf(point: Field): number | undefined {
  const value = point.get('value');
  return (value.isObject ? either(value, 'numericValue') : value).number();
}

function sourceOf(point: Field): string | undefined {
  return either(point, 'sourceName').text() ?? either(point, 'sourceId').text();
}

function pieceOf(point: Field): Piece {
  const { fromMs: from, toMs: to, eastMs } = spanOf(either(point, 'dateFrom'), either(point, 'dateTo'));
  return {
    field: point,
    stage: point.get('type').named(STAGES),
    from,
    to,
    eastMs,
    source: sourceOf(point) ?? '',
  };
}

function sessionOf(point: Field): SleepRecord {
  const times = timesOf(either(point, 'dateFrom'), either(point, 'dateTo'));
  return { field: point, source: sourceOf(point), ...times, read: () => ({}) };
}
