import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { gitFolder, ROOT } from './revision.js';

/** Patches that put defects into the service: bytes that it once lost, and one against each promise to a fleet. */
export const DEFECTS = [
  'bodyBudgetLeak',
  'unrevokedKey',
  'undividedQuota',
  'emptyStoreTaken',
  'reportAdded',
] as const;
export type Defect = (typeof DEFECTS)[number];

export interface Hunt {
  /** The seed that found it; undefined where none did. */
  readonly seed: number | undefined;
  /** What did not hold then. */
  readonly violation: string;
  /** What the run says of how it is repeated. */
  readonly again: string;
  /** Whether that does the same again. */
  readonly isReplayed: boolean;
}

/** Which fleets are simulated. */
export interface HuntOptions {
  readonly first: number;
  readonly seeds: number;
  readonly hours: number;
}

/** What a run needs of a built tree. */
const BUILT = ['package.json', 'dist', '.build/torture', '.build/test/fixtures'];

/** Puts a defect into a copy of the tree, and simulates that seed by seed until it is found. */
export function hunt(defect: Defect, { first, seeds, hours }: HuntOptions): Hunt {
  const copy = mkdtempSync(join(tmpdir(), 'acuity-defect-'));
  try {
    for (const path of BUILT) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    patch(copy, join(ROOT, 'torture/simulation/patches', `${defect}.patch`));
    const found = simulate(copy, ['--first', `${first}`, '--seeds', `${seeds}`, '--hours', `${hours}`]);
    if (found === undefined) return { seed: undefined, violation: '', again: '', isReplayed: false };
    const replayed = simulate(copy, found.again.split(' '));
    return { ...found, isReplayed: JSON.stringify(replayed) === JSON.stringify(found) };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** @returns what a run says when it fails; undefined where it does not */
function simulate(copy: string, options: readonly string[]): Omit<Hunt, 'isReplayed'> | undefined {
  const command = [join(copy, '.build/torture/simulation/main.js'), ...options];
  // The copy is another state of this repository.
  const env = { ...process.env, GIT_DIR: gitFolder(), GIT_WORK_TREE: copy, GIT_OPTIONAL_LOCKS: '0' };
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', env });
  if (status === 0) return undefined;
  const [, seed, violation = ''] = /^seed (\d+) fails: (.*)$/m.exec(stdout) ?? [];
  const [, again = ''] = /^the same again: npm run faults -- simulate (.*)$/m.exec(stdout) ?? [];
  if (seed === undefined || /^this tree is /m.test(stdout))
    throw new Error(`the simulation failed otherwise: ${stdout}${stderr}`);
  return { seed: Number(seed), violation, again };
}

/** Patches the sources that the patch names, and compiles them alone. */
function patch(copy: string, path: string): void {
  const files = [...readFileSync(path, 'utf8').matchAll(/^\+\+\+ b\/(src\/.*\.ts)$/gm)].map(
    ([, file]) => file ?? '',
  );
  for (const file of files) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file));
  }
  execFileSync('git', ['apply', path], { cwd: copy });
  for (const file of files) {
    const { outputText } = ts.transpileModule(readFileSync(join(copy, file), 'utf8'), {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ES2022 },
    });
    writeFileSync(join(copy, file.replace(/^src\/(.*)\.ts$/, 'dist/$1.js')), outputText);
  }
}
