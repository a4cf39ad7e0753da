import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { markdownTable } from '#acuity/base/table.js';
import { writeExport, type MadeExport } from './exports/file.js';
import { machine } from './machine.js';
import { compiledPath } from './paths.js';
import { UsageError } from './usage.js';

export const USAGE = `npm run bench -- exports [options]

  --megabytes LIST  sizes of the export (default 200,2000)
  --years N         that it covers (default 10)

An export of the Health app is made in a temporary folder and read by its adapter, with the moment to score and without
it.`;

/** The output of a reader. */
interface Said {
  readonly night: string;
  readonly sleepTimeSeconds: number;
  readonly beats: number;
  readonly seconds: number;
  readonly peakKb: number;
}

const run = promisify(execFile);

/** What a long export of Apple Health costs to read. @throws UsageError */
export async function runExports(args: readonly string[]): Promise<void> {
  const { sizes, years } = optionsOf(args);
  const folder = mkdtempSync(join(tmpdir(), 'acuity-export-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const rows: string[][] = [];
  for (const megabytes of sizes) {
    const path = join(folder, 'export.xml');
    const made = writeExport(path, megabytes, years);
    const size = `${Math.round(statSync(path).size / 1e6)} MB, ${made.records} records`;
    for (const at of [made.at, undefined]) {
      const { seconds, peakKb } = checked(await read(path, at), made);
      const moment = at === undefined ? 'the newest' : 'given';
      rows.push([size, moment, seconds.toFixed(1), String(Math.round(peakKb / 1024))]);
    }
    rmSync(path);
  }
  console.log(`${machine()}\n`);
  console.log(markdownTable([['export', 'moment to score', 'seconds', 'most memory, MiB'], ...rows]));
}

function optionsOf(args: readonly string[]): { sizes: readonly number[]; years: number } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        megabytes: { type: 'string', default: '200,2000' },
        years: { type: 'string', default: '10' },
      },
    });
    const [sizes, years] = [values.megabytes.split(',').map(Number), Number(values.years)];
    if (![...sizes, years].every((value) => value > 0 && value < 100_000))
      throw new UsageError('--megabytes and --years are numbers above 0');
    return { sizes, years };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(messageOf(error));
  }
}

async function read(path: string, at: string | undefined): Promise<Said> {
  const args = [compiledPath('exports', 'read.js'), path, ...(at === undefined ? [] : [at])];
  const { stdout } = await run(process.execPath, args);
  return JSON.parse(stdout) as Said;
}

/** A reader that finds another night does another job. */
function checked(said: Said, { at, sleepSeconds }: MadeExport): Said {
  if (said.night !== at.slice(0, 10) || said.sleepTimeSeconds !== sleepSeconds || said.beats === 0)
    throw new Error('the session is not that of the last night');
  return said;
}
