import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './revision.js';

/** Defects that the service once had, as patches that put them back. */
export const DEFECTS = ['bodyBudgetLeak', 'missedRevocation', 'doubledQuota'] as const;
export type Defect = (typeof DEFECTS)[number];

export interface Hunt {
  /** Seeds until it was found; undefined where none of them found it. */
  readonly seeds: number | undefined;
  /** What did not hold then. */
  readonly violation: string;
}

/** What a run needs of a built tree. */
const BUILT = ['package.json', 'dist', '.build/simulation', '.build/test/fixtures'];

/** Puts a defect back into a copy of the tree, and simulates that seed by seed until it is found. */
export function hunt(defect: Defect, seedsMax: number, hours: number): Hunt {
  const copy = mkdtempSync(join(tmpdir(), 'acuity-defect-'));
  try {
    for (const path of BUILT) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    patch(copy, join(ROOT, 'simulation/patches', `${defect}.patch`));
    const command = [
      join(copy, '.build/simulation/main.js'),
      '--seeds',
      String(seedsMax),
      '--hours',
      String(hours),
    ];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
    if (status === 0) return { seeds: undefined, violation: '' };
    const [, seed, violation] = /^seed (\d+) fails: (.*)$/m.exec(stdout) ?? [];
    if (seed === undefined) throw new Error(`the simulation of ${defect} failed otherwise: ${stderr}`);
    return { seeds: Number(seed), violation: violation ?? '' };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
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
