import { textTable } from '#acuity/base/table.js';
import { spreadOf } from '#acuity/load/statistics.js';
import { ratioOf, spreadText } from './goals.js';
import { baseOf, formOf, textsOf, type BenchPayload } from './payload.js';
import type { Result } from './result.js';
import { seriesOf } from './series.js';

const HEADER = ['payload', 'peer', 'connections', 'bytes × tenths', 'CPU µs/request', 'CPU × tenths'];

/**
 * The cost of each form relative to the tenths of the same payload, by the same peer in the same repetition;
 * undefined if no form was measured.
 */
export function formsTable(results: readonly Result[]): string | undefined {
  const saturated = results.filter(({ mode }) => mode === 'saturation');
  const rows = [...groupsOf(saturated.filter(({ payload }) => formOf(payload) !== undefined)).values()].map(
    (form) => rowOf(form, saturated),
  );
  return rows.length === 0 ? undefined : textTable([HEADER, ...rows]);
}

/** The repetitions of each form, peer and number of connections. */
function groupsOf(results: readonly Result[]): ReadonlyMap<string, readonly [Result, ...Result[]]> {
  const groups = new Map<string, [Result, ...Result[]]>();
  for (const result of results) {
    const name = `${result.payload} ${result.peer} ${result.connections}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [result]);
    else group.push(result);
  }
  return groups;
}

function rowOf(form: readonly [Result, ...Result[]], saturated: readonly Result[]): string[] {
  const [{ peer, mode, payload, connections }] = form;
  const tenths = seriesOf(saturated, { peer, mode, payload: baseOf(payload), connections });
  const cpuOf = ({ cpuMicrosPerRequest }: Result): number => cpuMicrosPerRequest;
  const ratio = ratioOf(form, tenths, cpuOf);
  return [
    `${baseOf(payload)}, ${formOf(payload)?.name ?? ''}`,
    peer,
    String(connections),
    (bytesOf(payload) / bytesOf(baseOf(payload))).toFixed(2),
    spreadText(spreadOf(form.map(cpuOf)), 1),
    ratio === undefined ? '–' : spreadText(ratio, 2),
  ];
}

/** Of the mean body. */
function bytesOf(payload: BenchPayload): number {
  const texts = textsOf(payload);
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / texts.length;
}
