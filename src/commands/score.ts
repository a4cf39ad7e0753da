/** The command `acuity score`. */
import { Option, type Command } from 'commander';
import { configOrExit } from './config.js';
import { OUTPUT, isRemote } from '../lake/input/inputs.js';
import { FORMATS, type ScoreOptions } from '../lake/options.js';
import { addLakeOptions, lakeProblem, namesOf, type LakeFlags } from './lakeOptions.js';
import { EXIT } from '../base/process/exitCodes.js';

const LATE = ['bad', 'fail', 'place'] as const;

interface ScoreFlags
  extends LakeFlags, Pick<ScoreOptions, 'keep' | 'late' | 'to' | 'outDir' | 'state' | 'again' | 'acceptBad'> {
  readonly explain?: true;
  readonly tables?: true;
  readonly person?: string;
  readonly order?: string;
}

export function registerScore(program: Command): void {
  addLakeOptions(program.command('score'))
    .description(
      'score rows without HTTP: files or folders to files beside them, or standard input to standard output',
    )
    .option(
      '--keep <names>',
      'fields or columns to copy to the output (by default id and custom_id, if present)',
      namesOf,
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
    .addOption(
      new Option('--to <format>', 'format of the output (by default that of the input)').choices(FORMATS),
    )
    .option('--out-dir <folder>', 'write there, in the same folders as the inputs, not beside them')
    .option('--again', 'score anew what is finished')
    .option(
      '--accept-bad',
      'leave it at the bad rows that a former run told: they give exit code 65 again and again, until this is given once',
    )
    .option(
      '--tables',
      'standard input holds many Arrow streams, each a table of its own; each gets one as its answer',
    )
    .addHelpText(
      'after',
      '\nThe scores of FILE.ndjson go to FILE.scores.ndjson, rows without scores to FILE.bad.ndjson. The same\n' +
        'command again skips finished files; a record beside each result, _FILE.acuity, says what made it. In a stream a bad line gives {"row":N,"error":{"line":N,"status":S,"detail":…}} in its place.\n' +
        'Person, order and the number of the row come before the scores or the error.\n' +
        'If any row was bad, the exit code is 65, also in a file finished before. One line for each file says which fields were found;\n' +
        'a missing column or no field at all ends the run with 64, before any score.',
    )
    .action(async (files: string[], flags: ScoreFlags, command: Command) => {
      const options = optionsOf(files, flags);
      if (typeof options === 'string') command.error(`acuity score: ${options}`, { exitCode: EXIT.usage });
      const config = configOrExit();
      const { scoreRows } = await import('../lake/score/score.js');
      const { code } = await scoreRows(config, options, 'acuity score');
      process.exit(code);
    });
}

/** The options, or the error message for them. */
function optionsOf(files: readonly string[], { person, order, ...flags }: ScoreFlags): ScoreOptions | string {
  if ((person === undefined) !== (order === undefined)) return '--person and --order need each other';
  const history = person === undefined || order === undefined ? undefined : { person, order };
  const { state, sql, sort, outDir } = flags;
  if (state !== undefined && history === undefined) return '--state needs --person and --order';
  if (isRemote(state ?? '')) return '--state is a file on this machine: a store has no locks';
  if (OUTPUT.test(state ?? '')) return '--state is named as a result: give it another name';
  if (sort === true && history === undefined) return '--sort needs --person and --order';
  const problem = lakeProblem(files, flags);
  if (problem !== undefined) return problem;
  if (sql !== undefined && outDir === undefined) return '--sql needs --out-dir';
  const isStream = files.length === 0 && sql === undefined;
  if (isStream && outDir !== undefined) return '--out-dir needs files';
  if (isStream && (flags.again ?? flags.acceptBad) === true)
    return '--again and --accept-bad need files, or --sql';
  if (flags.again === true && state !== undefined)
    return '--again and --state: the state has the sessions already, so remove it and all scores to begin again';
  const { format = 'ndjson', to = format } = flags;
  if (format === 'arrow' && sql !== undefined) return '--format arrow is for standard input, not for --sql';
  if (to === 'arrow' && format !== 'arrow') return '--to arrow needs --format arrow';
  if (format === 'arrow' && to !== 'arrow' && to !== 'ndjson')
    return 'an Arrow stream is answered by one, or --to ndjson';
  const isTables = flags.tables === true;
  if (isTables && (files.length > 0 || format !== 'arrow' || to !== 'arrow')) {
    return '--tables needs --format arrow, and is for standard input';
  }
  if (isTables && flags.state !== undefined) return '--tables and --state: the past of a table ends with it';
  return { ...flags, files, history, explain: flags.explain === true, tables: isTables };
}
