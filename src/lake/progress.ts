import { progressBar } from '../base/progressBar.js';
import type { RowTally } from './scorePages.js';

export interface ProgressOptions {
  /** The terminal to draw on. */
  readonly terminal: { write(text: string): unknown; readonly columns?: number };
  /** Length of the input in bytes; undefined if unknown. */
  readonly totalBytes: number | undefined;
  readonly tally: Readonly<RowTally>;
  readonly nowMs: () => number;
}

const REDRAW_MS = 200;
const BAR_CELLS = 24;
const BAR_CELLS_MIN = 6;
/** Restarts the terminal's line and clears it. */
export const CLEAR_LINE = '\r\u001b[K';

/** Draws the progress repeatedly. @returns the function to call at the end, which removes the line */
export function showProgress(options: ProgressOptions): () => void {
  const startedMs = options.nowMs();
  const timer = setInterval(() => {
    // The last column stays free: some terminals start a new line there.
    const cells = (options.terminal.columns ?? 80) - 1;
    const line = progressLine(options.tally, options.totalBytes, options.nowMs() - startedMs, cells);
    options.terminal.write(CLEAR_LINE + line);
  }, REDRAW_MS).unref();
  return () => {
    clearInterval(timer);
    options.terminal.write(CLEAR_LINE);
  };
}

/**
 * "████░░░░  42 %  420,000 lines  21,000/s  0:27 left", at most `cells` wide: the bar shrinks first, then the end.
 */
export function progressLine(
  tally: Readonly<RowTally>,
  totalBytes: number | undefined,
  elapsedMs: number,
  cells: number,
): string {
  const share = totalBytes ? Math.min(1, tally.bytesRead / totalBytes) : undefined;
  const parts = [`${grouped(tally.lines)} lines`, `${grouped(linesPerSecond(tally, elapsedMs))}/s`];
  if (tally.badLines > 0) parts.push(`${grouped(tally.badLines)} bad`);
  if (share === undefined) return parts.join('  ').slice(0, cells);
  if (share > 0) parts.push(`${minutes((elapsedMs / share) * (1 - share))} left`);
  const text = [`${String(Math.floor(share * 100)).padStart(3)} %`, ...parts].join('  ');
  const room = Math.min(BAR_CELLS, cells - text.length - 2);
  return (room < BAR_CELLS_MIN ? text : `${progressBar(share, room)}  ${text}`).slice(0, cells);
}

/** The final line, for people. `people`: how many have a stored history. */
export function summaryLine(tally: Readonly<RowTally>, elapsedMs: number, people?: number): string {
  const bad =
    tally.badLines === 0
      ? 'none bad'
      : `${grouped(tally.badLines)} bad, the first is row ${tally.firstBadLine}`;
  const ignored =
    tally.ignored === 0 ? '' : `; ${grouped(tally.ignored)} measurements came too late to count`;
  const seconds = (elapsedMs / 1000).toFixed(1);
  const who = people === undefined ? '' : ` of ${grouped(people)} people`;
  return `${grouped(tally.lines)} lines${who} in ${seconds} s (${grouped(linesPerSecond(tally, elapsedMs))}/s), ${bad}${ignored}`;
}

function linesPerSecond(tally: Readonly<RowTally>, elapsedMs: number): number {
  return elapsedMs > 0 ? Math.round((tally.lines / elapsedMs) * 1000) : 0;
}

/** Groups of three digits, in any locale. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

function minutes(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
