import { cpus } from 'node:os';

/** A mistake in the arguments, in one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const EXIT_USAGE = 64;

/**
 * Runs a command of this process. `--help` prints `usage`; a mistake in the arguments ends it with what is wrong, `usage`
 * and exit code 64.
 */
export async function runCommand(usage: string, run: () => Promise<void>): Promise<void> {
  if (process.argv.includes('--help')) return void process.stdout.write(`${usage}\n`);
  try {
    await run();
  } catch (error) {
    if (!isUsageError(error)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}\n`);
    process.exitCode = EXIT_USAGE;
  }
}

/** Whether the mistake is in the arguments: one of ours, or of `parseArgs`. */
function isUsageError(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

/** An option that takes a text. */
export function text(value: string) {
  return { type: 'string', default: value } as const;
}

/** @throws UsageError */
export function wholeNumber(number: string): number {
  if (!/^[1-9]\d*$/.test(number)) throw new UsageError(`${number} is no whole number above 0`);
  return Number(number);
}

/** @throws UsageError */
export function positive(number: string): number {
  const value = Number(number);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new UsageError(`${number} is no number above 0`);
}

/** @throws UsageError */
export function oneOf<Name extends string>(names: readonly Name[], what: string): (asked: string) => Name {
  return (asked) => {
    const found = names.find((name) => name === asked);
    if (found === undefined) throw new UsageError(`no ${what} is called ${asked}`);
    return found;
  };
}

/** Progress, on standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** "2 × its processor, Node 20.20.2": figures hold for the machine that they were measured on. */
export function machine(): string {
  return `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}`;
}
