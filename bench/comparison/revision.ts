import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MODEL_FOLDER, ROOT } from '#bench/paths.js';
import { ACUITY, type Peer } from '#bench/peers/catalogue.js';
import type { ComparisonOptions } from './options.js';
import type { Comparison, Result } from './result.js';
import { compare } from './run.js';

const run = promisify(execFile);

/** The names of the other revision, and of this tree. */
export const BASE = 'base';
export const CHANGE = 'change';

interface BuiltRevision {
  /** Remarks for the reader on how it was built. */
  readonly remarks: readonly string[];
  readonly peer: Peer;
  remove(): Promise<void>;
}

/**
 * Measures another revision (base) and this tree (change) alternately. Each repetition starts new servers: two starts
 * of a server differ by more than two measurements of it.
 * @throws Error if there is no such revision, or it does not build
 */
export async function compareRevision(
  options: ComparisonOptions,
  revision: string,
  say: (line: string) => void,
): Promise<Comparison> {
  const folder = await mkdtemp(join(tmpdir(), 'acuity-revision-'));
  say(`building ${revision}`);
  try {
    const base = await buildRevision(revision, folder);
    for (const remark of base.remarks) say(remark);
    const change: Peer = { ...ACUITY, name: CHANGE, what: 'the service as it stands in this tree' };
    const once = { ...options, peers: [base.peer, change], repetitions: 1 };
    const results: Result[] = [];
    const faults: string[] = [];
    try {
      for (let repetition = 1; repetition <= options.repetitions; repetition++) {
        say(`repetition ${repetition} of ${options.repetitions}`);
        const found = await compare(once, say);
        results.push(...found.results.map((result) => ({ ...result, repetition })));
        faults.push(...found.faults);
      }
    } finally {
      await base.remove();
    }
    return { results, faults };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Checks a revision out below `folder` and compiles it there with this tree's dependencies.
 * @throws Error if there is no such revision, or it does not build
 */
async function buildRevision(revision: string, folder: string): Promise<BuiltRevision> {
  const { stdout } = await run('git', ['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`], {
    cwd: ROOT,
  });
  const commit = stdout.trim();
  const tree = join(folder, 'base');
  await run('git', ['worktree', 'add', '--detach', tree, commit], { cwd: ROOT });
  const remove = async (): Promise<void> => {
    await rm(join(tree, 'node_modules'), { force: true }); // the link, not its target
    await run('git', ['worktree', 'remove', '--force', tree], { cwd: ROOT });
  };
  try {
    await symlink(join(ROOT, 'node_modules'), join(tree, 'node_modules'), 'dir');
    // Its own build steps, but not its `install`, which would replace this tree's dependencies.
    const script = "import('./scripts/prepare.js').then(({ build }) => build('src'))";
    await run(process.execPath, ['--input-type=module', '-e', script], { cwd: tree });
    const { model, hasSameModel } = await modelFor(tree);
    const remarks = [
      ...((await sameFile(tree, 'package-lock.json'))
        ? []
        : ['its lock file differs: it ran with the dependencies of this tree']),
      ...(hasSameModel ? [] : ['its model differs: it ran its own, and its scores were not checked']),
    ];
    return { remarks, peer: peerIn(tree, model, hasSameModel), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** This tree's model if both have the same, so that the answers can be checked. */
async function modelFor(tree: string): Promise<{ model: string; hasSameModel: boolean }> {
  const hasSameModel = await sameFile(tree, 'native-models/acuity-base/manifest.json');
  return { model: hasSameModel ? MODEL_FOLDER : join(tree, 'native-models/acuity-base'), hasSameModel };
}

async function sameFile(tree: string, path: string): Promise<boolean> {
  const [theirs, ours] = await Promise.all([tree, ROOT].map((root) => readFile(join(root, path), 'utf8')));
  return theirs === ours;
}

function peerIn(tree: string, model: string, scores: boolean): Peer {
  return {
    name: BASE,
    what: 'the service at the other revision',
    scores,
    command(key) {
      const { env, file } = ACUITY.command(key);
      return {
        name: BASE,
        file,
        args: [join(tree, 'dist/main.js'), 'serve'],
        env: { ...env, ACUITY_MODEL: model },
      };
    },
  };
}
