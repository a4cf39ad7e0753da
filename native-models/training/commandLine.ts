import { parseArgs, type ParseArgsConfig } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';

const EXIT_USAGE = 64;

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

/**
 * Reads this process's arguments. `--help` prints `usage` and ends the process; an unknown option, or a value
 * for which `check` throws, ends it with what is wrong, `usage` and exit code 64.
 */
export function readOptions<T extends Options, Read>(
  usage: string,
  options: T,
  check: (values: Values<T>) => Read,
): Read {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    process.exit();
  }
  try {
    return check(parseArgs({ options }).values);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n${usage}\n`);
    process.exit(EXIT_USAGE);
  }
}

/** The number above 0 that an option names. */
export function positive(option: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new RangeError(`${option} needs a number above 0`);
}

/** The comma-separated values of an option; each must be one of `known`. */
export function listed<T extends string | number>(option: string, text: string, known: Iterable<T>): T[] {
  const all = [...known];
  return text
    .split(',')
    .filter(Boolean)
    .map((name) => {
      const found = all.find((one) => String(one) === name.trim());
      if (found === undefined)
        throw new RangeError(`${option} has one that is unknown; known: ${all.join(', ')}`);
      return found;
    });
}
