import { text as textOf } from 'node:stream/consumers';
import type { Command } from 'commander';
import { HistoryDesk } from '../history/historyDesk.js';
import { textWithChecksum } from '../history/text.js';
import { described } from '../history/described.js';

/** EX_DATAERR of sysexits.h. */
const EXIT_DAMAGED = 65;
const WHICH = 'the history; without it, standard input, which other users of the machine do not see';

export function registerHistory(program: Command): void {
  const history = program.command('history').description('read the histories of answers');
  history
    .command('show')
    .description('print a history as JSON; both are health data')
    .argument('[text]', WHICH)
    .action((given: string | undefined) =>
      print('show', given, (desk) => `${JSON.stringify(described(desk.history), undefined, 2)}\n`),
    );
  history
    .command('forget-measurements')
    .description('print a history without its measurements; everything else stays')
    .argument('[text]', WHICH)
    .action((given: string | undefined) =>
      print('forget-measurements', given, (desk) => {
        desk.history.measurements.clear();
        return `${textWithChecksum(desk.encoded())}\n`;
      }),
    );
}

async function print(
  command: string,
  given: string | undefined,
  textOfHistory: (desk: HistoryDesk) => string,
): Promise<void> {
  const desk = new HistoryDesk();
  if (desk.read((given ?? (await textOf(process.stdin))).trim())) {
    process.stdout.write(textOfHistory(desk));
    return;
  }
  process.stderr.write(
    `acuity history ${command}: this is no history, or one that is damaged or of another version\n`,
  );
  process.exitCode = EXIT_DAMAGED;
}
