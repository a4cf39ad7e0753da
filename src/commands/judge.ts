/** The command `acuity judge`. */
import { writeFileSync } from 'node:fs';
import { InvalidArgumentError, type Command } from 'commander';
import { LABEL_FIELDS } from '#rules/fields.js';
import { outcomeOf, type Outcome, type ScoreName } from '../judge/outcomes.js';
import { jsonOf, textOf } from '../judge/report.js';
import type { JudgeOrder } from '../judge/run.js';
import { print } from '../base/process/print.js';
import { configOrExit } from './config.js';
import { judgePage } from './judgePage.js';
import { addLakeOptions, lakeProblem, namesOf, type LakeFlags } from './lakeOptions.js';
import { wholeNumber } from './numbers.js';
import { systemReason } from '../base/files/fileError.js';
import { EXIT } from '../base/process/exitCodes.js';

const SEED_MAX = 2 ** 31 - 1;
const DRAWS_MIN = 1_000;
const DRAWS_MAX = 100_000;

interface JudgeFlags extends LakeFlags, Pick<JudgeOrder, 'person' | 'order' | 'seed' | 'draws'> {
  readonly outcome: readonly Outcome[];
  readonly percentile?: readonly string[];
  readonly measured?: readonly Outcome[];
  readonly json?: true;
  readonly html?: string;
}

export function registerJudge(program: Command): void {
  addLakeOptions(program.command('judge'))
    .description(
      'compare scores with outcomes of your own people: do the scores say anything, and more than minutes asleep?',
    )
    .requiredOption('--person <name>', 'field or column with the person')
    .requiredOption(
      '--order <name>',
      'field or column with the time of a night; nights of a person are sorted by it',
    )
    .requiredOption(
      '--outcome <column:score>',
      'a column of outcomes, and the score that should rise with it; column:-score if the score should fall; repeatable',
      addOutcome,
    )
    .option('--percentile <columns>', 'outcomes that are percentiles from 0 to 100, as scores are', namesOf)
    .option(
      '--measured <column:score>',
      'a column with measurements of a score, as percentiles: prints what one, two and five of them gain; repeatable',
      addMeasured,
    )
    .option('--json', 'print all figures as JSON')
    .option('--html <file>', 'also write a page')
    .option('--seed <n>', 'seed of the draws of people', wholeNumber(0, SEED_MAX), 1)
    .option('--draws <n>', 'number of draws of people', wholeNumber(DRAWS_MIN, DRAWS_MAX), 2_000)
    .addHelpText(
      'after',
      '\nScores: C_SCORE, attention, memory, reasoning, stress, valence, arousal. An outcome is a number, true or false,\n' +
        'High or Low; a night without one counts only as past. Choose the sign before you look: it is never estimated.\n' +
        'The output holds counts and statistics: no person and no night.',
    )
    .action(
      async (
        files: string[],
        { outcome, percentile = [], measured = [], json, html, ...flags }: JudgeFlags,
        command: Command,
      ) => {
        const unfit = percentile.find(
          (name) => !outcome.some(({ column, score }) => column === name && !isLabel(score)),
        );
        const problem =
          lakeProblem(files, flags) ??
          (unfit && `--percentile ${unfit} is no --outcome of a score from 0 to 100`);
        if (problem !== undefined) command.error(`acuity judge: ${problem}`, { exitCode: EXIT.usage });
        const outcomes = outcome.map((one) => ({ ...one, isPercentile: percentile.includes(one.column) }));
        const config = configOrExit();
        const { judgeRows } = await import('../judge/run.js');
        const { code, report } = await judgeRows(config, { ...flags, files, outcomes, measured });
        if (report === undefined) process.exit(code);
        const text = json === true ? `${JSON.stringify(jsonOf(report), undefined, 2)}\n` : textOf(report);
        await print(text);
        if (html !== undefined)
          try {
            writeFileSync(html, judgePage(report));
          } catch (error) {
            const why = `${html} can't be written (${systemReason(error)}): give --html another file`;
            command.error(`acuity judge: ${why}`, { exitCode: EXIT.io });
          }
        process.exit(code);
      },
    );
}

function addOutcome(text: string, before: readonly Outcome[] = []): readonly Outcome[] {
  const outcome = outcomeOf(text);
  if (outcome === undefined)
    throw new InvalidArgumentError('It must be column:score or column:-score, with a score of acuity.');
  if (before.some(({ column, score }) => column === outcome.column && score === outcome.score))
    throw new InvalidArgumentError('It stands there twice.');
  return [...before, outcome];
}

function isLabel(score: ScoreName): boolean {
  return LABEL_FIELDS.some((label) => label === score);
}

/** Without labels, which are no percentiles, and C_SCORE, which follows from the others. */
const MEASURABLE: readonly ScoreName[] = ['attention', 'memory', 'reasoning', 'stress'];

function addMeasured(text: string, before: readonly Outcome[] = []): readonly Outcome[] {
  const outcome = outcomeOf(text);
  if (outcome === undefined || outcome.sign !== 1 || !MEASURABLE.includes(outcome.score))
    throw new InvalidArgumentError(`It must be column:score, with a score of ${MEASURABLE.join(', ')}.`);
  if (before.some(({ score }) => score === outcome.score))
    throw new InvalidArgumentError(`${outcome.score} is measured by another column already.`);
  return [...before, outcome];
}
