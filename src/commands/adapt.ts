/** The command `acuity adapt`. */
import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import type { Person } from '#adapters/person.js';
import { PROVIDERS, wayOf, type Provider } from '#adapters/recording.js';
import { adaptFiles } from '../adapt/adapt.js';
import { OperatorError } from '../base/errors.js';
import { EXIT } from '../base/process/exitCodes.js';

interface AdaptFlags extends Omit<Person, 'bornAt'> {
  readonly born?: string;
  readonly zone?: string;
  readonly person?: string;
}

const EXPORTERS = PROVIDERS.filter((name) => name !== 'intervals');

/** @throws InvalidArgumentError with what the service says of a provider that is not read */
function providerOf(name: string): Provider {
  const known = EXPORTERS.find((one) => one === name);
  if (known !== undefined) return known;
  const way = wayOf(name);
  throw new InvalidArgumentError(
    `${way === undefined ? '' : `${way}; `}expected one of ${EXPORTERS.join(', ')}`,
  );
}

export function registerAdapt(program: Command): void {
  program
    .command('adapt')
    .description('make requests of what a provider exported or answered: a line of NDJSON for each night')
    .addArgument(
      new Argument('<provider>', `who made the files: ${EXPORTERS.join(', ')}`).argParser(providerOf),
    )
    .argument('<files...>', 'an export, or saved answers: sleep….json, heart_rate….json; tables as CSV')
    .option('--zone <zone>', 'of times without an offset: Europe/Berlin or +01:00')
    .option('--person <name>', 'field `person` of each line, for acuity score --person person --order night')
    .option('--age <years>', 'age of the person in all nights', numberOf)
    .addOption(
      new Option('--born <date>', 'or the day of birth: each night has its own age')
        .argParser(dayOfBirth)
        .conflicts('age'),
    )
    .addOption(new Option('--sex <sex>', 'sex of the person').choices(['M', 'F']))
    .option('--height-cm <n>', 'height in centimetres', numberOf)
    .option('--weight-kg <n>', 'weight in kilograms', numberOf)
    .addHelpText(
      'after',
      '\nStandard error says what was not used, by reasons, and which nights could not be made. Sleeps are read first,\n' +
        'then of all samples those of the nights, so an export of gigabytes fits into little memory.\n' +
        '  acuity adapt apple_health export.xml --born 1991-05-17 --sex F --person me | acuity score --person person --order night --format ndjson',
    )
    .action(async (provider: Provider, files: string[], flags: AdaptFlags) => {
      process.exitCode = await adapted(provider, files, flags);
    });
}

async function adapted(
  provider: Provider,
  files: readonly string[],
  { zone, person: name, born, ...who }: AdaptFlags,
): Promise<number> {
  const person = { ...who, ...(born !== undefined && { bornAt: born }) };
  try {
    const written = await adaptFiles({ provider, files, name, person, ...(zone !== undefined && { zone }) });
    return written === 0 ? EXIT.data : 0;
  } catch (error) {
    if (!(error instanceof OperatorError || isOfFile(error) || error instanceof RangeError)) throw error;
    process.stderr.write(`acuity adapt: ${(error as Error).message}\n`);
    return EXIT.data;
  }
}

/** Not there, not readable, a folder: the system's message names the file. */
function isOfFile(error: unknown): boolean {
  return error instanceof Error && 'path' in error && 'code' in error;
}

function dayOfBirth(text: string): string {
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (ms < Date.now() && new Date(ms).toISOString().slice(0, 10) === text) return text;
  throw new InvalidArgumentError('It must be a day in the past, such as 1991-05-17.');
}

function numberOf(text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number)) return number;
  throw new InvalidArgumentError('It must be a number.');
}
