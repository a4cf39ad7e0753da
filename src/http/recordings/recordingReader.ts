import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { getPriority, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { SeriesLimits } from '#rules/fields.js';
import { errorOf } from '../../base/errors.js';
import { tellsTimes } from '../../base/threadTimes.js';
import type { Watched } from '../../base/hangWatch.js';
import { inheritable } from '../../base/process/inheritable.js';
import { NICENESS_MAX } from '../../base/process/priority.js';
import { tooLarge, type RecordingOutcome } from '../../read/readRecording.js';
import { AnswerReader, lengthOf, PIPE, type Answer, type GivenToReader } from './readerPipe.js';

/**
 * A process that reads recordings, one at a time. It has nothing of the service but its end of a pipe, and may be ended
 * at any time.
 */
export class RecordingReader implements Watched {
  readonly name = 'reader of recordings';
  folder: string | undefined;
  /** Answers so far. */
  progress = 0;
  isReady = false;
  /** Whether it has ended, or is about to. */
  isOver = false;
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  private readonly child: ChildProcess;
  private readonly pipe: Socket | undefined;
  private readonly answers = new AnswerReader();
  private done: ((result: RecordingResult) => void) | undefined;
  private watch: NodeJS.Timeout | undefined;
  private isTooLarge = false;
  private isEnded = false;
  private isLost = false;
  private lastWords = '';

  /** @throws if no process can be started; most reasons are reported to `onLost` */
  constructor(
    { limits, entry = ENTRY }: RecordingReaderOptions,
    private readonly events: RecordingReaderEvents,
  ) {
    const code = fileURLToPath(entry);
    const given: GivenToReader = { parent: process.pid, inherited: inheritable(), limits };
    const args = [...flags(code), code, JSON.stringify(given)];
    const child = spawn(process.execPath, args, {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    this.pid = child.pid;
    child.once('error', (error) => this.lose(error));
    child.once('close', (code, signal) => this.lose(new Error(`it ended with ${signal ?? code}`)));
    child.unref();
    // Without a free file descriptor there are no streams.
    const streams = (child.stdio ?? []) as (Socket | null | undefined)[];
    const lastWords = child.stderr as Socket | null | undefined;
    lastWords?.on(
      'data',
      (text: Buffer) => (this.lastWords = (this.lastWords + text.toString('latin1')).slice(-LAST_WORDS_MAX)),
    );
    lastWords?.unref();
    this.pipe = streams[PIPE] ?? undefined;
    this.pipe?.on('data', (chunk: Buffer) => this.receive(chunk)).on('error', () => this.kill());
    this.pipe?.unref();
    if (this.pid !== undefined) prepare(this.pid);
  }

  get isBusy(): boolean {
    return !this.isOver && (this.done !== undefined || !this.isReady);
  }

  get isStarting(): boolean {
    return !this.isReady;
  }

  /** Reads `body`; call it only if it is ready, and while nothing is read. */
  read(body: Uint8Array, done: (result: RecordingResult) => void): void {
    this.done = done;
    this.watch = setInterval(() => this.look(), LOOK_MS).unref();
    this.send(Buffer.concat([lengthOf(body), body.subarray(0, PIECE_BYTES)]), body, PIECE_BYTES);
  }

  /** Ends it, even in the middle of a recording, which then fails. */
  end(): void {
    this.isEnded = true;
    this.kill();
  }

  /** Writes a piece, then in turns of their own those of `body` from `next` on. */
  private send(piece: Uint8Array, body: Uint8Array, next: number): void {
    const goOn = (): void => this.send(body.subarray(next, next + PIECE_BYTES), body, next + PIECE_BYTES);
    this.pipe?.write(piece, () => {
      if (next < body.length && !this.isOver) setImmediate(goOn);
    });
  }

  private receive(chunk: Buffer): void {
    try {
      const answer = this.answers.take(chunk);
      if (answer !== undefined) this.answered(answer);
    } catch {
      this.kill(); // it does not keep to the form: it has lost its mind
    }
  }

  private answered({ head, body }: Answer): void {
    this.progress++;
    if (head.kind === 'ready') {
      this.isReady = true;
      if (this.pid !== undefined) lower(this.pid);
      const folder = `${this.pid}/task/${this.pid}`;
      if (tellsTimes(folder)) this.folder = folder;
      this.events.onReady();
    } else if (head.kind === 'failed') this.finish(errorOf(head.error));
    else this.finish(head.kind === 'read' ? { ...head, body } : head);
  }

  private finish(result: RecordingResult): void {
    const { done } = this;
    clearInterval(this.watch);
    this.done = undefined;
    done?.(result);
  }

  private look(): void {
    if (this.pid === undefined || residentBytes(this.pid) <= RESIDENT_BYTES_MAX) return;
    this.isTooLarge = true;
    this.kill();
  }

  private kill(): void {
    this.isOver = true;
    this.child.kill('SIGKILL');
  }

  private lose(cause: Error): void {
    if (this.isLost) return;
    this.isLost = true;
    this.isOver = true;
    const isExhausted = this.isTooLarge || OUT_OF_MEMORY.test(this.lastWords);
    const reason = isExhausted ? new Error('its memory was exhausted') : cause;
    if (!this.isEnded) this.events.onLost(reason);
    this.finish(isExhausted ? tooLarge() : reason);
  }
}

/** The outcome of a body; an error if the reader failed, or ended. */
export type RecordingResult = RecordingOutcome | Error;

/**
 * Below the service, but not the lowest: under a full load of plain requests, recordings still get their share of the
 * cores.
 */
const NICER_BY = 5;
/** Twice the need of the largest recordings (`test/http/recordings/recordingReader.test.ts`). */
const HEAP = ['--max-old-space-size=128', '--max-semi-space-size=8'];
/** V8 bounds its heap, and not the buffers beside it. */
const RESIDENT_BYTES_MAX = 256 * 1024 * 1024;
const LOOK_MS = 20;
/** More would hold the event loop for too long: a fast reader takes all that it gets in one turn. */
const PIECE_BYTES = 1 << 17;
/** V8 writes some 2 KB when its heap is exhausted. */
const LAST_WORDS_MAX = 8_192;
const OUT_OF_MEMORY = /out of memory/;

const ENTRY = new URL('./readerEntry.js', import.meta.url);
/** Never the root: a clone keeps its keys there. */
const READABLE = ['../../*', '../../../package.json'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

export interface RecordingReaderOptions {
  readonly limits: SeriesLimits;
  /** The reader's code; tests replace it. */
  readonly entry?: URL;
}

export interface RecordingReaderEvents {
  /** It can read now. */
  onReady(): void;
  /** It has ended, but not by `end`. */
  onLost(reason: Error): void;
}

/** Node's permissions, memory, and no inspector by a signal, as far as this Node has them. */
function flags(code: string): string[] {
  const known = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag);
  return [
    known('--permission') ? '--permission' : '--experimental-permission',
    '--allow-worker', // its watchdog is a thread
    ...[...READABLE, code].map((path) => `--allow-fs-read=${path}`),
    ...['--disable-sigusr1'].filter(known),
    ...HEAP,
    '--no-warnings',
  ];
}

/** Where memory is short it goes first, and a core would hold what was sent. Linux alone knows both. */
function prepare(pid: number): void {
  for (const [name, value] of [
    ['oom_score_adj', '1000'],
    ['coredump_filter', '0'],
  ]) {
    try {
      writeFileSync(`/proc/${pid}/${name}`, `${value}`);
    } catch {
      return; // not Linux, or it has ended
    }
  }
}

/** Lowers the priority of all threads of a process: on Linux each has its own. */
function lower(pid: number): void {
  try {
    const niceness = Math.min(getPriority() + NICER_BY, NICENESS_MAX);
    const threads = process.platform === 'linux' ? readdirSync(`/proc/${pid}/task`) : [pid];
    for (const thread of threads) setPriority(Number(thread), niceness);
  } catch {
    return; // not permitted, or it has ended
  }
}

/** 0 where the system does not tell. */
function residentBytes(pid: number): number {
  try {
    const [, kibibytes] = /^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return Number(kibibytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
