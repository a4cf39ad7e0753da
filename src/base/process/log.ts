/** The log: JSON lines without keys or bodies. */
import { pino, stdTimeFunctions, type Level, type Logger } from 'pino';
import { OperatorError } from '../errors.js';
import { StandardOutput } from './standardOutput.js';

export type Log = Logger;

export interface LogOptions {
  readonly level: Level | 'silent';
  /** The value of `name` in every line. */
  readonly name?: string;
  /** Destination of the lines; standard output by default. */
  readonly sink?: LogSink;
}

/** A destination for whole lines, each with its line break. */
export interface LogSink {
  write(line: string): void;
}

/**
 * Fields that must not be logged, removed from every line. Only a second safeguard: the first is that no caller
 * passes a key or a biometric value to the log.
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

/** Matches anything that looks like one of our API keys, anywhere in a line. */
const KEY_START = 'sk_';
const KEY_FORM = /sk_(demo|live)_[0-9A-Za-z]+/g;

/** A log of JSON lines. Writing never waits for the reader. */
export function createLog({ level, name, sink = new StandardOutput() }: LogOptions): Log {
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

/** The fields for an error. Only defects need the stack: an error that the operator can fix explains itself. */
export function errorFields(error: unknown): { readonly reason: string } | { readonly err: unknown } {
  return error instanceof OperatorError ? { reason: error.message } : { err: error };
}

function withoutKeys(sink: LogSink): LogSink {
  return {
    write(line) {
      sink.write(line.includes(KEY_START) ? line.replace(KEY_FORM, 'sk_$1_[redacted]') : line);
    },
  };
}
