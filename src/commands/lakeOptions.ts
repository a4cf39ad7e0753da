/** The options of commands that read rows: `acuity score` and `acuity judge`. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { FORMATS, type LakeOptions } from '../lake/options.js';
import { wholeNumber } from './numbers.js';

const PEOPLE_MAX = 10_000_000;
const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, TB: 1e12 };
const MEMORY_MIN = 256e6;

export type LakeFlags = Omit<LakeOptions, 'files'>;

export function addLakeOptions(command: Command): Command {
  return command
    .argument('[files...]', 'files, folders, patterns or addresses (s3://…); without any, standard input')
    .option('--sql <select>', 'take the rows of this SELECT of DuckDB')
    .option('--sort', 'take the rows of all inputs by person and time')
    .option(
      '--memory <size>',
      'most memory for tables and for sorting, as 2GB (by default a quarter of the machine’s)',
      bytesOf,
    )
    .option(
      '--extension <names>',
      'extensions of DuckDB that are on this machine: httpfs, delta, iceberg',
      namesOf,
    )
    .addOption(
      new Option('--encoding <name>', 'encoding of CSV, if it is not UTF-8').choices(['utf-16', 'latin-1']),
    )
    .addOption(
      new Option('--format <format>', 'format of the input (by default from its name)').choices(FORMATS),
    )
    .option(
      '--zone <zone>',
      'the zone whose dates are the nights, for times with a zone: Europe/Berlin, -05:00, UTC',
      zoneOf,
    )
    .option(
      '--people-max <n>',
      'keep the past of at most this many people (1.0 KB each)',
      wholeNumber(1, PEOPLE_MAX),
      1_000_000,
    );
}

/** The error message for options that contradict each other. */
export function lakeProblem(files: readonly string[], { sql, sort }: LakeFlags): string | undefined {
  if (sql !== undefined && files.length > 0) return '--sql names what it reads: leave out the files';
  if (sort === true && sql === undefined && files.length === 0) return '--sort needs files, or --sql';
  return undefined;
}

export function namesOf(text: string): string[] {
  const names = text.split(',').filter((name) => name !== '');
  if (new Set(names).size !== names.length) throw new InvalidArgumentError('A name stands there twice.');
  return names;
}

function zoneOf(text: string): string {
  if (/^[+-]\d\d:\d\d$/.test(text)) return text;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new InvalidArgumentError('It must be a zone like Europe/Berlin, -05:00 or UTC.');
  }
}

function bytesOf(text: string): number {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?) ?(MB|GB|TB)$/i.exec(text) ?? [];
  const bytes = Number(count) * (UNITS[unit.toUpperCase()] ?? NaN);
  if (bytes >= MEMORY_MIN) return bytes;
  throw new InvalidArgumentError('It must be a size like 512MB or 2GB, at least 256MB.');
}
