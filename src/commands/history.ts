/** The commands `acuity history show` and `forget-measurements`. */
import { text as textOf } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { HistoryDesk } from '../night/history/historyDesk.js';
import {
  DEFAULT_SERIES_LIMITS,
  LABEL_FIELDS,
  MEASURED_FIELDS,
  SCORE_FIELDS,
  SERIES_FIELDS,
  SESSION_SCALARS,
} from '#rules/fields.js';
import { isLabel } from '../night/measured.js';
import { LAYOUT } from '../night/layout.js';
import { WasmParser } from '../read/wasmParser.js';
import { SCALAR_PLACES, summaryAt } from '../night/places.js';
import type { History } from '../night/history/history.js';
import { HALF_LIFE_NIGHTS, type LongRun, QUANTITIES } from '../night/history/longRun.js';
import type { Measurements } from '../night/history/measurements.js';
import { dateOf } from '../base/days.js';
import { print } from '../base/process/print.js';
import { EXIT } from '../base/process/exitCodes.js';

const WHICH = 'the history; without it, standard input, which other users of the machine do not see';

export function registerHistory(program: Command): void {
  const history = program.command('history').description('read the histories of answers');
  history
    .command('show')
    .description('print a history as JSON; both are health data')
    .argument('[text]', WHICH)
    .action((given: string | undefined) =>
      answer('show', given, (desk) => `${JSON.stringify(described(desk.history), undefined, 2)}\n`),
    );
  history
    .command('forget-measurements')
    .description('print a history without its measurements; everything else stays')
    .argument('[text]', WHICH)
    .action((given: string | undefined) =>
      answer('forget-measurements', given, (desk) => {
        desk.history.measurements.clear();
        return `${desk.text()}\n`;
      }),
    );
}

async function answer(
  command: string,
  given: string | undefined,
  textOfHistory: (desk: HistoryDesk) => string,
): Promise<void> {
  const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
  if (parser.readHistoryText((given ?? (await textOf(process.stdin))).trim())) {
    await print(textOfHistory(parser.desk));
    return;
  }
  process.stderr.write(
    `acuity history ${command}: this is no history, or one that is damaged or of another version\n`,
  );
  process.exitCode = EXIT.data;
}

/**
 * A history as an object to be printed as JSON, where `NaN` is `null` for what is not known: health data. Sessions stand
 * oldest first; of a series its level, of a sex 1 for M and −1 for F.
 */
export function described(history: History): object {
  return {
    sessions: Array.from({ length: history.count }, (_, index) => sessionOf(history, index)),
    long_run: longRunOf(history.longRun),
    measurements: measurementsOf(history.measurements),
  };
}

function sessionOf({ days, records, targets, chances }: History, index: number): object {
  const record = index * LAYOUT.RECORD_LENGTH;
  const target = index * LAYOUT.TARGET_LENGTH;
  const day = days[index] ?? NaN;
  const levelOf = (summary: number): number | undefined =>
    records[summary + LAYOUT.COUNT] === 0 ? NaN : records[summary + LAYOUT.LEVEL];
  return {
    night: Number.isNaN(day) ? null : dateOf(day),
    read: {
      ...fields(SERIES_FIELDS, (field) => levelOf(record + summaryAt(0, field))),
      ...fields(SESSION_SCALARS, (field) => records[record + SCALAR_PLACES[field]]),
    },
    scores: fields(SCORE_FIELDS, (_, score) => targets[target + score]),
    chances_of_high: fields(LABEL_FIELDS, (_, label) => chances[index * LABEL_FIELDS.length + label]),
  };
}

function longRunOf({ nights, counts, means, spreads }: LongRun): object {
  const known = QUANTITIES.flatMap(({ name, unit }, index) =>
    (counts[index] ?? 0) === 0
      ? []
      : [[name, { unit, nights: counts[index], mean: means[index], spread: spreads[index] }] as const],
  );
  return { nights, half_life_nights: HALF_LIFE_NIGHTS, quantities: Object.fromEntries(known) };
}

/** The eight newest of each score; `older` is the sum of those before, up to a day. */
function measurementsOf({ scores }: Measurements): object[] {
  return MEASURED_FIELDS.flatMap((score, index) => {
    const { kept = [], older } = scores[index] ?? {};
    const { pull = NaN, precision = NaN } = older?.evidence ?? {};
    return [
      ...(older === undefined
        ? []
        : [{ score, on: dateOf(older.day), older: { spreads: pull / precision, weight: precision } }]),
      ...kept.map(({ value, reliability, day }) => ({
        score,
        on: dateOf(day),
        value: !isLabel(score) ? value : value > 0 ? 'High' : 'Low',
        reliability,
      })),
    ];
  });
}

function fields<Name extends string>(
  names: readonly Name[],
  valueOf: (name: Name, index: number) => number | undefined,
): object {
  return Object.fromEntries(names.map((name, index) => [name, valueOf(name, index)]));
}
