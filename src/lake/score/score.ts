/** The command `acuity score`: a run with a scorer of its own. */
import { systemClock } from '../../base/clock.js';
import { FileLockError } from '../../base/files/fileLock.js';
import { collectWithoutHelpers, keepYoungGenerations } from '../../base/process/collector.js';
import { exitOnceStill } from '../../base/process/leave.js';
import { createLog, type Log } from '../../base/process/log.js';
import { OutputError } from '../../base/process/print.js';
import type { Config } from '../../config/options.js';
import { loadBundle } from '../../model/bundle.js';
import { openScorer, type HungListener } from '../../score/openScorer.js';
import type { Scorer, ScoringModel } from '../../score/scorer.js';
import type { ScoreOptions } from '../options.js';
import { Run, sizeOf } from '../run.js';
import { RowTally } from './scorePages.js';
import { CLEAR_LINE, showProgress, summaryLine, wrapped } from '../progress.js';
import { messageOf, OperatorError } from '../../base/errors.js';
import { NamesError, TableError, TryAgainError } from '../errors.js';
import type { Input } from '../input/inputs.js';
import { EXIT } from '../../base/process/exitCodes.js';

/**
 * Larger batches than for callers who wait: threads exchange fewer messages, and one wave of histories runs at once.
 */
const BATCH_MIN = 256;

/** The end of a run that read all rows: those without scores are bad ones. */
export interface RunEnd {
  /** The exit code: 0, or 65 if a row was bad, now or in a finished input, and not accepted. */
  readonly code: number;
  readonly tally: Readonly<RowTally>;
  readonly model: ScoringModel;
}

/**
 * Scores rows of files, or of standard input to standard output, without HTTP, through the service's own pipeline and
 * pool, for a command named `command`. Exits the process if nothing is to be scored, or not all rows can be read and
 * written.
 */
export async function scoreRows(config: Config, options: ScoreOptions, command: string): Promise<RunEnd> {
  const { stdin, stderr } = process;
  const say = saying(command);
  collectWithoutHelpers();
  // With histories rows wait for earlier ones, and would outlive a small young generation.
  if (options.history === undefined) keepYoungGenerations();
  const log = createLog({ level: config.logLevel, sink: stderr });
  const tally = new RowTally();
  let run: Run | undefined;
  /** Undefined until scoring begins. */
  let scorer: Scorer | undefined;
  let startedMs = 0;
  const summarise = (): void => say(summaryLine(tally, systemClock.monotonicMs() - startedMs, run?.people));
  const close = async (): Promise<void> => {
    await run?.close();
    await scorer?.drained(); // an exit while the network runs aborts
    await scorer?.close();
  };
  try {
    run = new Run(config, options, tally, say);
    const todo = await run.open();
    const skipped = run.inputs.length - todo.length;
    if (skipped > 0) say(`${skipped} of ${run.inputs.length} files are finished already`);
    if (todo.length === 0 && run.inputs.length > 0) {
      await run.close();
      process.exit(run.hasBad ? EXIT.data : 0);
    }
    const opening = openOfflineScorer(config, log, (hang) => {
      say(`a worker hangs after line ${tally.lines}: ${JSON.stringify(hang)}`);
      const still = opening.then((opened) => opened.halt());
      void exitOnceStill(EXIT.software, still);
    });
    scorer = await opening;
    startedMs = systemClock.monotonicMs();
    if (run.isStream && stdin.isTTY) say('reading requests from the terminal, one on each line');
    const hideProgress = stderr.isTTY
      ? showProgress(stderr, { tally, totalBytes: bytesIn(todo) }, systemClock.monotonicMs)
      : undefined;
    await run.score(todo, scorer).finally(hideProgress);
  } catch (error) {
    if (tally.lines > 0 && !(error instanceof NamesError)) summarise();
    const isOurs = error instanceof OperatorError || error instanceof OutputError;
    const what = run?.isStream === true ? 'standard input or output' : 'input or output';
    const words = scorer === undefined || isOurs ? '' : `${what} failed: `;
    if (!(error instanceof OutputError && error.isUnread)) say(placed(run, `${words}${messageOf(error)}`));
    await close();
    process.exit(codeOf(error, scorer !== undefined));
  }
  summarise();
  await close();
  return { code: run.hasBad ? EXIT.data : 0, tally, model: scorer.model };
}

/**
 * A scorer for files, where no caller waits: it sheds no request. `onHung` is called if a worker hangs: a worker may take
 * as long for a row as in the service, and batches are longer here.
 */
export async function openOfflineScorer(config: Config, log: Log, onHung: HungListener): Promise<Scorer> {
  const batchMax = Math.max(config.batchMax, BATCH_MIN);
  const queueMax = Math.max(config.queueMax, 8 * batchMax);
  const hangMs = config.hangMs * (batchMax / config.batchMax);
  const setup = { ...config, deadlineMs: Infinity, hangMs, batchMax, queueMax };
  const bundle = await loadBundle(config.model);
  return openScorer({ config: setup, bundle, workers: config.workers, loops: 1 }, log, onHung);
}

/** The size of all files; undefined if that of one is not known. */
function bytesIn(inputs: readonly Input[]): number | undefined {
  const sum = inputs.reduce((bytes, input) => bytes + (sizeOf(input) ?? NaN), 0);
  return sum > 0 ? sum : undefined;
}

/** The exit code of what ends a run before or within its work. */
function codeOf(error: unknown, hasBegun: boolean): number {
  if (error instanceof NamesError) return EXIT.usage;
  if (error instanceof TryAgainError || error instanceof FileLockError) return EXIT.again;
  if (error instanceof TableError) return EXIT.data;
  if (!hasBegun) return EXIT.failed;
  if (error instanceof OutputError) return error.code;
  return error instanceof OperatorError ? EXIT.data : EXIT.io;
}

/** The words after the input that they are about, unless they begin with it. */
function placed(run: Run | undefined, words: string): string {
  const name = run?.current;
  return name === undefined || [' ', ': '].some((end) => words.startsWith(name + end))
    ? words
    : `${name}: ${words}`;
}

function saying(command: string): (line: string) => void {
  const { stderr } = process;
  return (line) =>
    void stderr.write(
      stderr.isTTY
        ? `${CLEAR_LINE}${wrapped(`${command}: ${line}`, stderr.columns)}\n`
        : `${command}: ${line}\n`,
    );
}
