import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { messageOf } from '#acuity/base/errors.js';
import { markdownTable, textTable } from '#acuity/base/table.js';
import { scoped, Trial, type Part, type PartOptions } from './part.js';

export interface RunOptions extends Omit<PartOptions, 'say'> {
  readonly isJson: boolean;
  readonly isDocumented: boolean;
}

export interface Outcome {
  readonly name: string;
  readonly seconds: number;
  readonly trials: readonly Trial[];
}

const DOCUMENT = fileURLToPath(new URL('../../../docs/RELIABILITY.md', import.meta.url));

/** Runs the parts one after the other; resolves to whether everything held. */
export async function runParts(parts: readonly Part[], options: RunOptions): Promise<boolean> {
  if (options.isDocumented) for (const { name } of parts) placeOf(name, readFileSync(DOCUMENT, 'utf8')); // throws early
  const outcomes: Outcome[] = [];
  for (const part of parts) outcomes.push(await runPart(part, options));
  const rows = outcomes.flatMap(({ name, trials }) => trials.map((trial) => [name, ...cellsOf(trial)]));
  const text = options.isJson
    ? JSON.stringify(outcomes)
    : textTable([['part', ...HEAD], ...rows], { alignsRight: false });
  process.stdout.write(`${text}\n`);
  for (const { name, trials } of outcomes)
    for (const { what, failures } of trials)
      for (const failure of failures) process.stderr.write(`${name}, ${what}: ${failure}\n`);
  if (options.isDocumented) for (const outcome of outcomes) document(outcome);
  return outcomes.every(({ trials }) => trials.every(({ tried, held }) => tried === held));
}

async function runPart(part: Part, options: RunOptions): Promise<Outcome> {
  const startMs = performance.now();
  const seconds = (): number => Math.round((performance.now() - startMs) / 1000);
  const say = (line: string): void => void process.stderr.write(`${part.name} (${seconds()} s): ${line}\n`);
  try {
    say(part.about);
    const trials = await scoped((scope) => part.run(scope, { ...options, say }));
    return { name: part.name, seconds: seconds(), trials };
  } catch (error) {
    return { name: part.name, seconds: seconds(), trials: [new Trial('it ran').add(messageOf(error))] };
  }
}

const HEAD = ['tried', 'times', 'held', 'figure'];

function cellsOf({ what, tried, held, figure, skipped }: Trial): string[] {
  if (skipped !== undefined) return [what, '', 'not tried', skipped];
  return [what, tried.toLocaleString('en'), tried === held ? 'all' : held.toLocaleString('en'), figure];
}

/** Where the table of a part begins and ends. @throws Error if the document has no place for it */
function placeOf(name: string, text: string): readonly [from: number, to: number] {
  const [from, to] = [`<!-- faults ${name}`, `<!-- /faults ${name} -->`].map((mark) => text.indexOf(mark));
  if (from === undefined || to === undefined || from === -1 || to === -1)
    throw new Error(`no place for the part ${name} in the document`);
  return [from, to];
}

/** Writes the table of one part to its place in the document. */
function document({ name, seconds, trials }: Outcome): void {
  const text = readFileSync(DOCUMENT, 'utf8');
  const [from, to] = placeOf(name, text);
  const table = markdownTable([HEAD, ...trials.map(cellsOf)]);
  const machine = `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`;
  const section = `<!-- faults ${name}: npm run faults -- ${name} --docs -->\n${table}\n\n${seconds} s; ${machine}.\n`;
  writeFileSync(DOCUMENT, text.slice(0, from) + section + text.slice(to));
}
