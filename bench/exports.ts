import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { markdownTable } from '#acuity/base/table.js';
import { writeExport, type MadeExport } from './exports/file.js';
import { machine } from './machine.js';
import { compiledPath, ROOT, sourcePath } from './paths.js';
import { UsageError } from './usage.js';

export const USAGE = `npm run bench -- exports [options]

  --megabytes LIST  sizes of the export (default 200,2000)
  --years N         that it covers (default 10)

An export of the Health app is made in a temporary folder and read by both clients' adapters, with the moment to score
and without it. Python is left out where there is none.`;

const LANGUAGES = ['TypeScript', 'Python'] as const;
type Language = (typeof LANGUAGES)[number];

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
  const languages = (await hasPython()) ? LANGUAGES : LANGUAGES.slice(0, 1);
  const folder = mkdtempSync(join(tmpdir(), 'acuity-export-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const rows: string[][] = [];
  for (const megabytes of sizes) {
    const path = join(folder, 'export.xml');
    const made = writeExport(path, megabytes, years);
    const size = `${Math.round(statSync(path).size / 1e6)} MB, ${made.records} records`;
    for (const language of languages) {
      for (const at of [made.at, undefined]) {
        const { seconds, peakKb } = checked(await read(language, path, at), made);
        const moment = at === undefined ? 'the newest' : 'given';
        rows.push([size, language, moment, seconds.toFixed(1), String(Math.round(peakKb / 1024))]);
      }
    }
    rmSync(path);
  }
  console.log(`${machine()}\n`);
  console.log(
    markdownTable([['export', 'client', 'moment to score', 'seconds', 'most memory, MiB'], ...rows]),
  );
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

async function hasPython(): Promise<boolean> {
  const recent = 'import sys; sys.exit(sys.version_info < (3, 10))';
  return run('python3', ['-c', recent]).then(
    () => true,
    () => false,
  );
}

async function read(language: Language, path: string, at: string | undefined): Promise<Said> {
  const args = [path, ...(at === undefined ? [] : [at])];
  const [command, script] =
    language === 'Python'
      ? ['python3', sourcePath('exports', 'read.py')]
      : [process.execPath, compiledPath('exports', 'read.js')];
  const PYTHONPATH = join(ROOT, 'packages/client-python/src');
  const { stdout } = await run(command, [script, ...args], { env: { ...process.env, PYTHONPATH } });
  return JSON.parse(stdout) as Said;
}

/** A reader that finds another night does another job. */
function checked(said: Said, { at, sleepSeconds }: MadeExport): Said {
  if (said.night !== at.slice(0, 10) || said.sleepTimeSeconds !== sleepSeconds || said.beats === 0)
    throw new Error('the session is not that of the last night');
  return said;
}
