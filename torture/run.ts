import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { messageOf } from '#acuity/base/errors.js';
import { textTable } from '#acuity/base/table.js';
import type { Teardown } from '#fixtures/server.js';
import type { Part, PartOptions, Trial } from './part.js';
import { rowsOf, withOutcomes, type PartOutcome } from './outcome.js';

export interface RunOptions extends Omit<PartOptions, 'say'> {
  readonly isJson: boolean;
  readonly isDocumented: boolean;
}

const DOCUMENT = fileURLToPath(new URL('../../docs/RELIABILITY.md', import.meta.url));

/** Runs the parts one after the other; resolves to whether everything held. */
export async function runParts(parts: readonly Part[], options: RunOptions): Promise<boolean> {
  const outcomes: PartOutcome[] = [];
  for (const part of parts) outcomes.push(await runPart(part, options));
  const text = options.isJson
    ? JSON.stringify(outcomes)
    : textTable(rowsOf(outcomes), { alignsRight: false });
  process.stdout.write(`${text}\n`);
  for (const { name, trials } of outcomes) tellFailures(name, trials);
  if (options.isDocumented) writeDocument(outcomes);
  return outcomes.every(({ trials }) => trials.every(({ tried, held }) => tried === held));
}

async function runPart(part: Part, options: RunOptions): Promise<PartOutcome> {
  const ends: (() => unknown)[] = [];
  const scope: Teardown = { teardown: (end) => void ends.push(end) };
  // On a signal, do what is possible synchronously, such as killing servers.
  const onExit = (): void => ends.toReversed().forEach((end) => void end());
  process.once('exit', onExit);
  const startMs = performance.now();
  const say = (line: string): void => {
    const seconds = Math.round((performance.now() - startMs) / 1000);
    process.stderr.write(`${part.name} (${seconds} s): ${line}\n`);
  };
  try {
    say(part.about);
    const trials = await part.run(scope, { ...options, say });
    return { name: part.name, seconds: Math.round((performance.now() - startMs) / 1000), trials };
  } catch (error) {
    const failures = [messageOf(error)];
    return {
      name: part.name,
      seconds: NaN,
      trials: [{ what: 'it ran', tried: 1, held: 0, figure: '', failures }],
    };
  } finally {
    process.off('exit', onExit);
    for (const end of ends.toReversed()) await end();
  }
}

function tellFailures(name: string, trials: readonly Trial[]): void {
  for (const { what, failures = [] } of trials) {
    for (const failure of failures) process.stderr.write(`${name}, ${what}: ${failure}\n`);
  }
}

function writeDocument(outcomes: readonly PartOutcome[]): void {
  const machine = `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`;
  writeFileSync(DOCUMENT, withOutcomes(readFileSync(DOCUMENT, 'utf8'), outcomes, machine));
}
