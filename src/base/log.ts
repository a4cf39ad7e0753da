import { pino, stdTimeFunctions, type DestinationStream, type Level, type Logger } from 'pino';

export type Log = Logger;

export interface LogOptions {
  readonly level: Level | 'silent';
  /** Shown as `name` in every line. */
  readonly name?: string;
  /** Where the lines go; standard output by default. */
  readonly sink?: LogSink;
}

/** A destination of whole lines. */
export interface LogSink extends DestinationStream {
  /** Returns when everything written so far has left the process. */
  flushSync(): void;
}

/**
 * Fields that nobody should log, taken out of a line where somebody does. Only a second net: the first is
 * that no caller passes a key or a biometric value to the log.
 */
const SENSITIVE_FIELDS = [
  'key',
  'apiKey',
  'headers',
  'body',
  'current_session',
  'past_sessions',
  'past_targets',
  '["x-api-key"]',
  'req.headers',
  'req.body',
  'request.headers',
  'request.body',
];

/** Anything that looks like one of our API keys, wherever in a line it stands. */
const KEY_START = 'sk_';
const KEY_FORM = /sk_(demo|live)_[0-9A-Za-z]+/g;

/** A slow reader of standard output costs at most this much memory; the lines beyond it are dropped and counted. */
const BUFFERED_BYTES_MAX = 1 << 20;

/**
 * A log of JSON lines. Writing never waits for the reader; before leaving the process, call `log.flush()`,
 * which returns when all lines are out.
 */
export function createLog({ level, name, sink = standardOutput() }: LogOptions): Log {
  return pino(
    {
      level,
      base: name === undefined ? null : { name },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SENSITIVE_FIELDS, censor: '[redacted]' },
    },
    withoutKeys(sink),
  );
}

/** pino calls `flush` when `log.flush()` is called: made synchronous here, as it serves the way out. */
function withoutKeys(
  sink: LogSink,
): DestinationStream & { flush(done?: () => void): void; flushSync(): void } {
  return {
    write(line) {
      sink.write(line.includes(KEY_START) ? line.replace(KEY_FORM, 'sk_$1_[redacted]') : line);
    },
    flushSync() {
      sink.flushSync();
    },
    flush(done) {
      sink.flushSync();
      done?.();
    },
  };
}

function standardOutput(): LogSink {
  const stdout = pino.destination({ dest: 1, sync: false, maxLength: BUFFERED_BYTES_MAX });
  let dropped = 0;
  stdout.on('drop', () => {
    dropped += 1;
  });
  stdout.on('drain', () => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    stdout.write(
      `{"level":"warn","time":"${new Date().toISOString()}","msg":"log lines dropped","lines":${lines}}\n`,
    );
  });
  // A full disk behind standard output must not end the service: the lines wait, and beyond the bound they drop.
  stdout.on('error', () => undefined);
  return stdout;
}
