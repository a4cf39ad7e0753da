import { text as textOf } from 'node:stream/consumers';
import type { Command } from 'commander';
import { HistoryDesk } from '../history/historyDesk.js';
import { inWords } from '../history/words.js';

/** EX_DATAERR of sysexits.h. */
const EXIT_DAMAGED = 65;

export function registerHistory(program: Command): void {
  program
    .command('history')
    .description('look at the histories that answers carry')
    .command('show')
    .description('print a history in words; it is health data, and so is what is printed')
    .argument(
      '[text]',
      'the history; without it, standard input, which other users of the machine do not see',
    )
    .action(async (given: string | undefined) => {
      const desk = new HistoryDesk();
      if (desk.read((given ?? (await textOf(process.stdin))).trim())) {
        process.stdout.write(inWords(desk.history));
        return;
      }
      process.stderr.write(
        'acuity history show: this is no history, or one that is damaged or of another version\n',
      );
      process.exitCode = EXIT_DAMAGED;
    });
}
