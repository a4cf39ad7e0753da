import {
  LABEL_FIELDS,
  MEASURED_FIELDS,
  SCORE_FIELDS,
  SERIES_FIELDS,
  SESSION_SCALARS,
} from '#rules/fields.js';
import { textTable } from '../base/table.js';
import { isLabel, type Evidence } from '../pipeline/measured.js';
import { LAYOUT } from '../records/layout.js';
import { SCALAR_PLACES, summaryAt } from '../records/places.js';
import type { History } from './history.js';
import { HALF_LIFE_NIGHTS, QUANTITIES, type LongRun } from './longRun.js';
import type { Measurements } from './measurements.js';
import { dateOf } from './night.js';

const { RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;
const NOTHING = '–';

/** A history in readable form for the operator: health data. */
export function inWords(history: History): string {
  const { count, longRun } = history;
  const parts = [
    `${counted(count, 'session')}, and ${counted(longRun.nights, 'night')} in the long run`,
    `What was read of each session, oldest first; of a series its level, of a sex 1 for M and −1 for F\n${sessionsTable(history)}`,
    `What the network said\n${scoresTable(history)}`,
  ];
  if (longRun.nights > 0) {
    parts.push(
      `The long run: half of a night's weight is left after ${HALF_LIFE_NIGHTS} more\n${longRunTable(longRun)}`,
    );
  }
  if (!history.measurements.isEmpty) {
    parts.push(
      'What was measured: of each score the eight newest; older ones in one sum up to a day\n' +
        measurementsTable(history.measurements),
    );
  }
  return `${parts.join('\n\n')}\n`;
}

function nightsOf({ count, days }: History): string[] {
  return Array.from(days.subarray(0, count), (day) => (Number.isNaN(day) ? 'undated' : dateOf(day)));
}

function sessionsTable(history: History): string {
  const { count, records } = history;
  const rowOf = (field: string, valueOf: (record: number) => number | undefined): string[] => [
    field,
    ...Array.from({ length: count }, (_, index) => text(valueOf(index * RECORD_LENGTH))),
  ];
  return textTable([
    ['', ...nightsOf(history)],
    ...SERIES_FIELDS.map((field) =>
      rowOf(field, (record) => {
        const summary = record + summaryAt(0, field);
        return records[summary + LAYOUT.COUNT] === 0 ? NaN : records[summary + LAYOUT.LEVEL];
      }),
    ),
    ...SESSION_SCALARS.map((field) => rowOf(field, (record) => records[record + SCALAR_PLACES[field]])),
  ]);
}

function scoresTable(history: History): string {
  const { targets, chances } = history;
  const rows = nightsOf(history).map((night, index) => {
    const target = targets.subarray(index * TARGET_LENGTH, (index + 1) * TARGET_LENGTH);
    const scores = SCORE_FIELDS.map((_, score) => (target[score] ?? NaN).toFixed(2));
    const labels = LABEL_FIELDS.map((_, label) => {
      const word = (target[SCORE_FIELDS.length + label] ?? NaN) > 0 ? 'High' : 'Low';
      return `${word} (${text(chances[index * LABEL_FIELDS.length + label])})`;
    });
    return [night, ...scores, ...labels];
  });
  return textTable([['', ...SCORE_FIELDS, ...LABEL_FIELDS.map((label) => `${label} (p of High)`)], ...rows]);
}

function longRunTable({ counts, means, spreads }: LongRun): string {
  const rows = QUANTITIES.map(({ name, unit }, index) => {
    const isKnown = (counts[index] ?? 0) > 0;
    const number = (value: number | undefined): string => (isKnown ? (value ?? NaN).toFixed(2) : NOTHING);
    return [name, unit, String(counts[index]), number(means[index]), number(spreads[index])];
  });
  return textTable([['', 'unit', 'nights', 'mean', 'spread'], ...rows]);
}

function measurementsTable({ scores }: Measurements): string {
  const rows = MEASURED_FIELDS.flatMap((field, index) => {
    const { kept = [], older } = scores[index] ?? {};
    return [
      ...(older === undefined ? [] : [[field, dateOf(older.day), sumText(older.evidence), NOTHING]]),
      ...kept.map(({ value, reliability, day }) => [
        field,
        dateOf(day),
        isLabel(field) ? (value > 0 ? 'High' : 'Low') : value.toFixed(2),
        String(reliability),
      ]),
    ];
  });
  return textTable([['', 'on', 'value', 'reliability'], ...rows]);
}

/** In which direction the older ones move the score, and their weight. */
function sumText({ pull, precision }: Evidence): string {
  const away = pull / precision;
  return `older ones: ${away < 0 ? '−' : '+'}${Math.abs(away).toFixed(2)} spreads, weight ${precision.toFixed(2)}`;
}

function text(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? NOTHING : String(Number(value.toFixed(4)));
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
