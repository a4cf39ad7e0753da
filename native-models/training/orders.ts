import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What is trained, on what: the served network for `model:build`, its rivals where `model:evaluate` asks for them. */

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Cohorts and fits, from the repository's root. */
export const WORK = '.build/model';
const TRAINING = 'native-models/training';
const VENV = '.venv';

export const COHORT = join(WORK, 'cohort');
const SEED = '1';
const PEOPLE = '48000';
const DAYS = '9';
/** The rivals get fewer rounds: these are for comparison, not for serving. */
const ROUNDS = { network: '3', linear: '2', large: '2' } as const;
export type Kind = keyof typeof ROUNDS;
export const RIVALS = ['linear', 'large'] as const satisfies readonly Kind[];

/** Writes the cohort and fits a network of each kind to it, into the folder of its name in `WORK`. */
export function train(python: string, kinds: readonly Kind[]): void {
  node('cohort/write.js', ['--out', COHORT, '--seed', SEED, '--people', PEOPLE, '--days', DAYS]);
  for (const kind of kinds) {
    const options = ['--cohort', COHORT, '--out', join(WORK, kind), '--kind', kind, '--seed', SEED];
    script(python, 'train.py', [...options, '--rounds', ROUNDS[kind]]);
  }
}

/** A script of this folder. */
export function script(python: string, name: string, options: readonly string[]): void {
  run(python, ['-B', join(TRAINING, name), ...options]);
}

/** A compiled program of this folder. */
export function node(name: string, options: readonly string[]): void {
  run(process.execPath, [join('.build/training', name), ...options]);
}

/** The Python with PyTorch: the given one, or a virtual environment of the repository. */
export function preparePython(given?: string): string {
  if (given !== undefined) return given;
  const python = join(VENV, 'bin/python');
  if (!existsSync(join(ROOT, python))) run('python3', ['-m', 'venv', VENV]);
  run(python, ['-m', 'pip', 'install', '--quiet', '-r', join(TRAINING, 'requirements.txt')]);
  return python;
}

function run(command: string, options: readonly string[]): void {
  const { status } = spawnSync(command, options, { stdio: 'inherit', cwd: ROOT });
  if (status !== 0) throw new Error(`${command} ${options[0] ?? ''} ended with ${String(status)}`);
}
