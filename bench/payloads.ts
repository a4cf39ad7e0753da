import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readRecording, recordingProblem, type Recording } from '#adapters/recording.js';
import { messageOf } from '#acuity/base/errors.js';
import { markdownTable } from '#acuity/base/table.js';
import { UsageError } from './usage.js';

export const USAGE = `npm run bench -- payloads FOLDER

What becomes of payloads of your own: each file FOLDER/*.json is a recording, as docs/ADAPTERS.md has it.`;

/** What comes of a folder of payloads. @throws UsageError */
export async function runPayloads(args: readonly string[]): Promise<void> {
  const files = filesOf(args);
  const payloads = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Recording);
  const said = payloads.map(saidOf);
  const rows = said.map((one, index) => [
    String(payloads[index]?.['provider']),
    files[index]?.split('/').at(-1) ?? '',
    one,
  ]);
  console.log(`${markdownTable([['provider', 'file', 'night'], ...rows])}\n`);
  const refused = said.filter((one) => one.startsWith(REFUSED)).length;
  const providers = new Set(rows.map(([provider]) => provider)).size;
  console.log(
    `${said.length} payloads of ${providers} providers: ${said.length - refused} read, ${refused} refused`,
  );
}

const REFUSED = 'refused: ';

function filesOf(args: readonly string[]): string[] {
  try {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
    const [folder, ...others] = positionals;
    if (folder === undefined || others.length > 0) throw new UsageError('one folder of payloads is needed');
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    if (names.length === 0) throw new UsageError('the folder has no .json file');
    return names.toSorted().map((name) => join(folder, name));
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(messageOf(error));
  }
}

function saidOf(recording: Recording): string {
  try {
    return readRecording(recording).night ?? 'the day alone';
  } catch (error) {
    const problem = recordingProblem(error);
    if (problem === undefined) throw error;
    return `${REFUSED}${problem.path.join('.')}: ${problem.sentence}`;
  }
}
