import { InvalidArgumentError, Option, type Command } from 'commander';
import { prepareEnvironment } from '../config/options.js';
import { configOrExit } from './config.js';
import type { ScoreOptions } from '../batch/run.js';

/** EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64;
const FORMATS = ['ndjson', 'csv', 'arrow', 'parquet'] as const;
const NAME_READINGS = ['exact', 'any-case'] as const;
const LATE = ['bad', 'fail', 'place'] as const;
const PEOPLE_MAX = 10_000_000;

interface ScoreFlags extends Pick<
  ScoreOptions,
  'keep' | 'names' | 'late' | 'format' | 'to' | 'outDir' | 'state' | 'peopleMax'
> {
  readonly explain?: true;
  readonly tables?: true;
  readonly person?: string;
  readonly order?: string;
}

export function registerScore(program: Command): void {
  program
    .command('score')
    .description(
      'score rows without HTTP: files or folders to files beside them, or standard input to standard output',
    )
    .argument('[files...]', 'files, folders or patterns; without any, standard input')
    .option(
      '--keep <names>',
      'fields or columns to copy to the output (by default id and custom_id, if present)',
      namesOf,
    )
    .addOption(
      new Option('--names <reading>', 'any-case takes hr_night for HR_night, as databases write it')
        .choices(NAME_READINGS)
        .default('exact'),
    )
    .option('--explain', 'add its explanation to each row, which takes several times as long')
    .option('--person <name>', 'field or column with the person: earlier rows of a person become the past')
    .option('--order <name>', 'field or column with the time of a row; rows of a person are sorted by it')
    .option('--state <file>', 'read the history of each person from this file, and write it back')
    .addOption(
      new Option(
        '--late <what>',
        'a row whose night is earlier than the person’s previous row is a bad row, ends the run, or gets its place',
      )
        .choices(LATE)
        .default('bad'),
    )
    .option('--people-max <n>', 'keep the past of at most this many people (1.0 KB each)', countOf, 1_000_000)
    .addOption(
      new Option('--format <format>', 'format of the input (by default from its name)').choices(FORMATS),
    )
    .addOption(
      new Option('--to <format>', 'format of the output (by default that of the input)').choices(FORMATS),
    )
    .option('--out-dir <folder>', 'write there, in the same folders as the inputs, not beside them')
    .option(
      '--tables',
      'standard input holds many Arrow streams, each a table of its own; each gets one as its answer',
    )
    .addHelpText(
      'after',
      '\nThe scores of FILE.ndjson go to FILE.scores.ndjson, rows without scores to FILE.bad.ndjson. A second run skips\n' +
        'finished files. In a stream a bad line gives {"row":N,"error":{"line":N,"status":S,"detail":…}} in its place.\n' +
        'Person, order and the number of the row come before the scores or the error.\n' +
        'If any row was bad, the exit code is 65. One line for each file says which fields were found;\n' +
        'a known name in another case, a missing column or no field at all ends the run with 64, before any score.',
    )
    .action(async (files: string[], flags: ScoreFlags) => {
      const options = optionsOf(files, flags);
      if (typeof options === 'string') {
        process.stderr.write(`acuity score: ${options}\n`);
        process.exit(EXIT_USAGE);
      }
      const config = configOrExit();
      prepareEnvironment();
      // Imported only now, because the native libraries read the environment when they load.
      const { score } = await import('../batch/score.js');
      await score(config, options);
    });
}

/** The options, or the error message for them. */
function optionsOf(files: readonly string[], { person, order, ...flags }: ScoreFlags): ScoreOptions | string {
  if ((person === undefined) !== (order === undefined)) return '--person and --order need each other';
  const history = person === undefined || order === undefined ? undefined : { person, order };
  if (flags.state !== undefined && history === undefined) return '--state needs --person and --order';
  if (history !== undefined && flags.state === undefined && files.length > 1) {
    return '--person over several files needs --state: there the past of the finished ones is kept';
  }
  if (files.length === 0 && flags.outDir !== undefined) return '--out-dir needs files';
  const isTables = flags.tables === true;
  if (isTables && (files.length > 0 || flags.format !== 'arrow' || (flags.to ?? 'arrow') !== 'arrow')) {
    return '--tables needs --format arrow, and is for standard input';
  }
  if (isTables && flags.state !== undefined) return '--tables and --state: the past of a table ends with it';
  return { ...flags, files, history, explain: flags.explain === true, tables: isTables };
}

function namesOf(text: string): string[] {
  const names = text.split(',').filter((name) => name !== '');
  if (new Set(names).size !== names.length) throw new InvalidArgumentError('A name stands there twice.');
  return names;
}

function countOf(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count > 0 && count <= PEOPLE_MAX) return count;
  throw new InvalidArgumentError(`It must be a whole number, 1 to ${PEOPLE_MAX}.`);
}
