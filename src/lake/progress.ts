import { grouped } from '../base/table.js';
import type { RowTally } from './score/scorePages.js';

/** The progress and the summary of a run, for people. */

const REDRAW_MS = 200;
/** Restarts the terminal's line and clears it. */
export const CLEAR_LINE = '\r\u001b[K';

/**
 * Draws "42 %  2 min left  420,000 lines  21,000/s  3 bad" repeatedly; share and time only with `totalBytes`, the size of
 * all files: within one of lines they go on, a table counts when it is done. @returns the function to call at the end, which removes the line
 */
export function showProgress(
  terminal: { write(text: string): unknown; readonly columns?: number },
  { tally, totalBytes }: { readonly tally: Readonly<RowTally>; readonly totalBytes: number | undefined },
  nowMs: () => number,
): () => void {
  const startedMs = nowMs();
  const timer = setInterval(() => {
    const bad = tally.badLines === 0 ? '' : `  ${grouped(tally.badLines)} bad`;
    const share = totalBytes === undefined ? '' : shareWords(tally.bytes / totalBytes, nowMs() - startedMs);
    const line = `${share}${grouped(tally.lines)} lines  ${grouped(linesPerSecond(tally, nowMs() - startedMs))}/s${bad}`;
    // The last column stays free: some terminals start a new line there.
    terminal.write(CLEAR_LINE + line.slice(0, (terminal.columns ?? 80) - 1));
  }, REDRAW_MS).unref();
  return () => {
    clearInterval(timer);
    terminal.write(CLEAR_LINE);
  };
}

/** "42 %  2 min left  ", once something is done. */
function shareWords(share: number, elapsedMs: number): string {
  if (!(share > 0)) return '';
  const leftS = (elapsedMs / 1000) * (1 / share - 1);
  const left = leftS < 90 ? `${Math.ceil(leftS)} s` : `${Math.round(leftS / 60)} min`;
  return `${Math.floor(100 * share)} %  ${left} left  `;
}

/** A message as lines of a terminal, which break between words. */
export function wrapped(text: string, columns: number): string {
  return text.replace(
    new RegExp(`(.{1,${Math.max(20, columns - 3)}})( |$)`, 'g'),
    (_, line, end) => line + (end && '\n  '),
  );
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
