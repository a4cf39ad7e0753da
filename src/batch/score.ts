import { fstatSync } from 'node:fs';
import { systemClock } from '../base/clock.js';
import { exitAtOnce } from '../base/exit.js';
import { createLog, type Log } from '../base/log.js';
import type { Config } from '../config/options.js';
import { loadBundle } from '../model/bundle.js';
import { createReader } from '../pipeline/read.js';
import type { Scorer } from '../scoring/scorer.js';
import { openModel } from '../server/eventLoopServer.js';
import { newTally, scoreLines, type Tally } from './scoreLines.js';
import { showProgress, summaryLine } from './progress.js';

/** Exit codes of sysexits.h: some lines were bad; an internal error; standard input or output failed. */
const EXIT_BAD_LINES = 65;
const EXIT_SOFTWARE = 70;
const EXIT_IO = 74;
const EXIT_FAILED_START = 1;

const STDIN = 0;

/** A worker counts as hung when nothing was answered over so many looks, `hangMs` in all. */
const LOOKS_PER_HANG = 10;

/**
 * How the batcher is set up where nobody waits: no request is ever shed, and it looks for no hang, because the
 * time that a stopped or suspended process lost would look like one. `watchForHang` counts looks instead.
 */
const NOBODY_WAITS = { deadlineMs: Infinity, hangMs: 2 ** 31 - 1 } as const;

/**
 * Scores NDJSON from standard input to standard output, without HTTP, through the service's own pipeline and
 * pool. Leaves the process: 0, or 65 where a line was bad.
 */
export async function score(config: Config): Promise<void> {
  const log = createLog({ level: config.logLevel, sink: standardError });
  let scorer: Scorer;
  try {
    scorer = await open(config, log);
  } catch (error) {
    process.stderr.write(`acuity score: ${messageOf(error)}\n`);
    process.exit(EXIT_FAILED_START);
  }
  const tally = newTally();
  const code = await run(config, scorer, tally);
  await scorer.drained();
  await scorer.close();
  process.exit(code);
}

async function open(config: Config, log: Log): Promise<Scorer> {
  const setup = { ...config, ...NOBODY_WAITS };
  const bundle = await loadBundle(config.model);
  return openModel({ config: setup, bundle, workers: config.workers, loops: 1 }, log, () => undefined);
}

/** @returns the exit code */
async function run(config: Config, scorer: Scorer, tally: Tally): Promise<number> {
  const { stdin, stdout, stderr } = process;
  const { daySamplesMax, nightSamplesMax } = config;
  const startedMs = systemClock.monotonicMs();
  const watch = watchForHang(config.hangMs, scorer, tally);
  if (stdin.isTTY) stderr.write('acuity score: reading requests from the terminal, one on each line\n');
  const hideProgress = stderr.isTTY
    ? showProgress({ terminal: stderr, totalBytes: inputBytes(), tally, nowMs: systemClock.monotonicMs })
    : undefined;
  let failure: unknown;
  try {
    await scoreLines(stdin, stdout, {
      readRequest: createReader({ daySamplesMax, nightSamplesMax }),
      scorer,
      inFlightMax: config.queueMax,
      lineBytesMax: config.bodyMaxBytes,
      tally,
    });
  } catch (error) {
    failure = error;
  }
  clearInterval(watch);
  hideProgress?.();
  stderr.write(`acuity score: ${summaryLine(tally, systemClock.monotonicMs() - startedMs)}\n`);
  if (failure !== undefined) {
    stderr.write(`acuity score: standard input or output failed: ${messageOf(failure)}\n`);
    return EXIT_IO;
  }
  return tally.badLines > 0 ? EXIT_BAD_LINES : 0;
}

/** Ends the process where lines are under way and none is answered any more. */
function watchForHang(hangMs: number, scorer: Scorer, tally: Readonly<Tally>): NodeJS.Timeout {
  let looks = 0;
  let seen = { lines: -1, pending: -1 };
  return setInterval(
    () => {
      const { lines } = tally;
      const { pending } = scorer;
      looks = pending > 0 && pending === seen.pending && lines === seen.lines ? looks + 1 : 0;
      seen = { lines, pending };
      if (looks < LOOKS_PER_HANG) return;
      process.stderr.write(`acuity score: a worker hangs behind line ${lines}\n`);
      exitAtOnce(EXIT_SOFTWARE);
    },
    Math.max(1, hangMs / LOOKS_PER_HANG),
  ).unref();
}

/** Undefined where the input is no file: its end is not known beforehand. */
function inputBytes(): number | undefined {
  const { size } = fstatSync(STDIN);
  return fstatSync(STDIN).isFile() ? size : undefined;
}

/** Standard output belongs to the scores. */
const standardError = {
  write(line: string): void {
    process.stderr.write(line);
  },
  flushSync(): void {
    // Lines on standard error are not held back.
  },
};

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
