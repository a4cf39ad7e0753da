import type { Kind } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { listOf, type Field, type Sent } from '../field.js';
import { grouped } from '../ordered.js';
import { pieceRecords, type SentPiece } from '../pieces.js';
import { sleepRecords, type Records } from '../records.js';
import { seriesOfEach } from '../series.js';

/**
 * The Flutter package `health`: its points as their `toJson` writes them, from either platform; the names of version 13,
 * and those of 10 with `_`, 2026-11-28. Times are written without an offset where the app did not make them UTC.
 */
export interface FlutterHealthInput extends AdapterOptions {
  /** Points of `getHealthDataFromTypes`. */
  readonly points?: unknown;
}

/** A session, and time in bed, are no sleep: they only say from when to when. */
const STAGES: Readonly<Record<string, Kind>> = {
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

function recordsIn(sent: Sent<FlutterHealthInput>): Records {
  const list = sent('points');
  const points = listOf(list, 'points, with type, value and dateFrom');
  const ofType = grouped(points ?? [], (point) => point.get('type').text());
  const of = (type: string) => ofType.get(type) ?? [];
  const samples = (type: string) =>
    seriesOfEach(list, of(type), (point) => either(point, 'dateFrom').moment(), valueOf, sourceOf);
  return {
    sleeps:
      points && pieceRecords(Object.keys(STAGES).flatMap(of), stageOf, sleepRecords(of(SESSION), sessionOf)),
    heart: samples(HEART),
    breath: samples(BREATH),
  };
}

/** A field under its name, or as version 10 wrote it: `date_from`. */
function either(field: Field, name: string): Field {
  return field.either(
    name,
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
}

function valueOf(point: Field): number | undefined {
  const value = point.get('value');
  return (value.isObject ? either(value, 'numericValue') : value).number();
}

function stageOf(point: Field): SentPiece {
  return { stage: point.get('type').named(STAGES), ...sessionOf(point) };
}

function sessionOf(point: Field) {
  return {
    field: point,
    from: either(point, 'dateFrom'),
    to: either(point, 'dateTo'),
    source: sourceOf(point),
    read: () => ({}),
  };
}

function sourceOf(point: Field): string | undefined {
  return either(point, 'sourceName').text() ?? either(point, 'sourceId').text();
}
