import { spreadOf, type Spread } from '#acuity/load/statistics.js';
import { textTable } from '#acuity/base/table.js';
import { machine } from '#bench/machine.js';
import { FASTIFY, FLOOR } from '#bench/peers/catalogue.js';
import { goalLines, goalTable, ratioOf, spreadText } from './goals.js';
import { formsTable } from './formsTable.js';
import { MODE_TITLES } from './mode.js';
import { formOf } from './payload.js';
import type { ComparisonOptions } from './options.js';
import type { Cell } from './plan.js';
import type { Comparison, Result } from './result.js';
import { BASE, CHANGE } from './revision.js';
import { seriesOf, throughputOf } from './series.js';

/** The result of a comparison, for people. */
export function reportOf(options: ComparisonOptions, { results, faults }: Comparison): string {
  const sections = cellsOf(results).map(
    (cell) => `${headingOf(cell, options)}\n\n${cellTable(cell, results, options)}`,
  );
  const forms = formsTable(results);
  const formSections = forms === undefined ? [] : [`Forms, saturation\n\n${forms}`];
  const hasGoals = !options.modes.includes('rate') && options.revision === undefined;
  const goals = hasGoals ? [`Goals\n\n${textTable(goalTable(goalLines(results)))}`] : [];
  const revision = options.revision === undefined ? [] : [revisionSection(results)];
  const verdict =
    faults.length === 0
      ? 'Every answer had status 200, or 503 where a queue was to overflow, and every answer that was looked at had the expected scores.'
      : `NOT TO BE USED:\n${faults.map((fault) => `  ${fault}`).join('\n')}`;
  return [machineLine(options), ...sections, ...formSections, ...goals, ...revision, verdict].join('\n\n');
}

function machineLine({ seconds, repetitions, load, modes }: ComparisonOptions): string {
  const generator = modes.includes('rate') ? 'own pacing' : load;
  return `${machine()}; ${generator}; ${repetitions} repetitions of ${seconds} s, interleaved; median (min–max)`;
}

/** The cells that were measured, in their order. */
function cellsOf(results: readonly Result[]): Cell[] {
  const cells = new Map<string, Cell>();
  for (const { mode, payload, connections } of results) {
    if (formOf(payload) !== undefined) continue; // in a table of their own
    cells.set(`${mode} ${payload} ${connections}`, { mode, payload, connections });
  }
  return [...cells.values()];
}

function headingOf({ mode, payload, connections }: Cell, { rate }: ComparisonOptions): string {
  const pace = mode === 'rate' ? `, ${rate} requests/s` : '';
  return `${payload}, ${MODE_TITLES[mode]}${pace}, ${connections} connection${connections === 1 ? '' : 's'}`;
}

/** The peers that throughput and processor time are compared with. */
function yardsticks({ revision }: ComparisonOptions): readonly [throughput: string, cpu: string] {
  return revision === undefined ? [FASTIFY.name, FLOOR.name] : [BASE, BASE];
}

function cellTable(cell: Cell, results: readonly Result[], options: ComparisonOptions): string {
  const names = yardsticks(options);
  const [fastify, floor] = names.map((peer) => seriesOf(results, { ...cell, peer }));
  const header = [
    '',
    'requests/s',
    `× ${names[0]}`,
    'p50 µs',
    'p99 µs',
    'CPU µs/request',
    `CPU × ${names[1]}`,
  ];
  const inCell = results.filter(
    ({ mode, payload, connections }) =>
      mode === cell.mode && payload === cell.payload && connections === cell.connections,
  );
  const peers = [...new Set(inCell.map(({ peer }) => peer))];
  const rows = peers.map((peer) => {
    const series = seriesOf(results, { ...cell, peer });
    const spread = (valueOf: (result: Result) => number, digits: number): string =>
      spreadText(spreadOf(series.map(valueOf)), digits);
    return [
      peer,
      spread(throughputOf, 0),
      ratioText(ratioOf(series, fastify ?? [], throughputOf)),
      spread(({ p50Micros }) => p50Micros, 0),
      spread(({ p99Micros }) => p99Micros, 0),
      spread(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest, 1),
      ratioText(ratioOf(series, floor ?? [], ({ cpuMicrosPerRequest }) => cpuMicrosPerRequest)),
      spread(({ rssBytes }) => (rssBytes.at(-1) ?? NaN) / 1024 / 1024, 0),
      spread(({ requests, refused = 0 }) => (100 * refused) / requests, 0),
      String(series.reduce((sum, { answersChecked }) => sum + answersChecked, 0)),
    ];
  });
  return textTable([[...header, 'RSS MiB', 'refused %', 'checked'], ...rows]);
}

function ratioText(ratio: ReturnType<typeof ratioOf>): string {
  return ratio === undefined ? '–' : spreadText(ratio, 2);
}

/** The processor time of this tree divided by the other revision's. */
function revisionSection(results: readonly Result[]): string {
  const rows = cellsOf(results).map((cell) => {
    const [change, base] = [CHANGE, BASE].map((peer) => seriesOf(results, { ...cell, peer }));
    const ratio = ratioOf(change ?? [], base ?? [], ({ cpuMicrosPerRequest }) => cpuMicrosPerRequest);
    return [
      `${cell.payload}, ${cell.connections} connections`,
      ratio === undefined ? '–' : changeVerdict(ratio),
    ];
  });
  return textTable([['processor time of this tree', ''], ...rows]);
}

/** Calls only what every repetition agrees on a difference. */
export function changeVerdict({ min, max }: Pick<Spread, 'min' | 'max'>): string {
  if (max < 1) return 'less, in every repetition';
  return min > 1 ? 'more, in every repetition' : 'no difference beyond the spread';
}
