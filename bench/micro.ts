import { parseArgs } from 'node:util';
import { textTable } from '#acuity/base/table.js';
import { machine, oneOf, text, wholeNumber } from './cli.js';
import { AUTHENTICATE } from './micro/authenticate.js';
import { measure, type Effort, type Suite } from './micro/harness.js';
import { METRICS_SUITE } from './micro/metrics.js';
import { pricesTable } from './micro/prices.js';
import { FEATURISE, READ, READ_FORMS } from './micro/reading.js';
import { DISPATCH, EXPLAIN, RESPOND, SESSION } from './micro/scoring.js';
import { worstTable } from './worst/search.js';
import { spread } from './spread.js';

/** In the order in which a request meets them. */
export const SUITES: readonly Suite[] = [AUTHENTICATE, READ, READ_FORMS, FEATURISE, DISPATCH, SESSION, EXPLAIN, RESPOND, METRICS_SUITE]; // prettier-ignore

/** Searches beside the suites: run only if they are named. */
const SEARCHES = ['worst', 'prices'];

export const USAGE = `npm run bench -- micro [suites] [options]

  suites            of ${SUITES.map(({ name }) => name).join(', ')} (default all),
                    or worst (which bodies hold an event loop longest), or prices (what a token of each kind of body costs,
                    recordings too; ends with 1 if one costs more than its share)
  --rounds N        rounds in which the cases of a suite take turns, and the effort of a search (default 7; of worst and
                    prices 3, which take some minutes then)
  --round-ms N      length of a round (default 100)`;

/** Each stage of a request alone. @throws UsageError */
export async function runMicro(args: readonly string[]): Promise<void> {
  const { names, effort } = parse(args);
  const { rounds, roundMs } = effort;
  process.stdout.write(`${machine()}; ${rounds} rounds of some ${roundMs} ms; µs, median (least–most)\n`);
  for (const suite of SUITES.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const rows = (await measure(suite, effort)).map(({ name, wall, cpu }) => [
      name,
      spread(wall, 2),
      spread(cpu, 2),
    ]);
    process.stdout.write(`\n${textTable([[suite.name, 'wall', 'CPU'], ...rows])}\n`);
  }
  if (names.includes('worst')) process.stdout.write(`\n${worstTable(rounds)}\n`);
  if (!names.includes('prices')) return;
  const { text, isDear } = await pricesTable(rounds);
  process.stdout.write(`\n${text}\n`);
  if (isDear) process.exitCode = 1;
}

function parse(args: readonly string[]): { readonly names: readonly string[]; readonly effort: Effort } {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { rounds: { type: 'string' }, 'round-ms': text('100') },
    allowPositionals: true,
  });
  const names = positionals.map(oneOf([...SUITES.map(({ name }) => name), ...SEARCHES], 'suite'));
  const rounds = values.rounds ?? (names.some((name) => SEARCHES.includes(name)) ? '3' : '7');
  return {
    names,
    effort: { rounds: wholeNumber(rounds), roundMs: wholeNumber(values['round-ms']) },
  };
}
