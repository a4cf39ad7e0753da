import { execFile } from 'node:child_process';
import { readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MODEL_FOLDER, ROOT } from '#bench/paths.js';
import { acuity, type Peer } from '#bench/peers/catalogue.js';

const run = promisify(execFile);

export interface BuiltRevision {
  readonly commit: string;
  /** What the reader must know of how it was built. */
  readonly remarks: readonly string[];
  readonly peer: Peer;
  remove(): Promise<void>;
}

/**
 * Checks a revision out below `folder` and compiles it there with the dependencies that are installed here.
 * @throws Error where there is no such revision, or it does not build
 */
export async function buildRevision(revision: string, folder: string): Promise<BuiltRevision> {
  const { stdout } = await run('git', ['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`], {
    cwd: ROOT,
  });
  const commit = stdout.trim();
  const tree = join(folder, 'base');
  await run('git', ['worktree', 'add', '--detach', tree, commit], { cwd: ROOT });
  const remove = async (): Promise<void> => {
    await rm(join(tree, 'node_modules'), { force: true }); // the link, not what it leads to
    await run('git', ['worktree', 'remove', '--force', tree], { cwd: ROOT });
  };
  try {
    await symlink(join(ROOT, 'node_modules'), join(tree, 'node_modules'), 'dir');
    // Its own build steps, without its `install`: that would replace the dependencies of this tree.
    const script = "import('./scripts/prepare.js').then(({ build }) => build('src'))";
    await run(process.execPath, ['--input-type=module', '-e', script], { cwd: tree });
    const { model, hasSameModel } = await modelFor(tree);
    const remarks = [
      ...((await sameFile(tree, 'package-lock.json'))
        ? []
        : ['its lock file differs: it ran with the dependencies of this tree']),
      ...(hasSameModel ? [] : ['its model differs: it ran its own, and its scores were not checked']),
    ];
    return { commit, remarks, peer: peerIn(tree, model, hasSameModel), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The model of this tree where both are the same, so that the answers can be checked. */
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
    name: 'base',
    what: `the service at the other revision`,
    scores,
    command(key) {
      const { env, file } = acuity(1).command(key);
      return {
        name: 'base',
        file,
        args: [join(tree, 'dist/main.js'), 'serve'],
        env: { ...env, ACUITY_MODEL: model },
      };
    },
  };
}
