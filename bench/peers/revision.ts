import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '#bench/paths.js';
import { ACUITY, type Peer } from './catalogue.js';

const run = promisify(execFile);

/** The name of the other revision. */
export const BASE = 'base';

/**
 * Builds another revision with this tree's dependencies, as a peer for the time of `use`.
 * @throws Error if there is no such revision, or it does not build
 */
export async function withRevision<Outcome>(
  revision: string,
  say: (line: string) => void,
  use: (base: Peer) => Promise<Outcome>,
): Promise<Outcome> {
  const commit = (await run('git', ['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`], { cwd: ROOT })).stdout.trim(); // prettier-ignore
  const folder = await mkdtemp(join(tmpdir(), 'acuity-revision-'));
  const tree = join(folder, BASE);
  say(`building ${commit}`);
  await run('git', ['worktree', 'add', '--detach', tree, commit], { cwd: ROOT });
  try {
    await symlink(join(ROOT, 'node_modules'), join(tree, 'node_modules'), 'dir');
    // Its own build steps, but not its `install`, which would replace this tree's dependencies.
    const script = "import('./scripts/prepare.js').then(({ build }) => build('src'))";
    await run(process.execPath, ['--input-type=module', '-e', script], { cwd: tree });
    if (!(await isSame(tree, 'package-lock.json')))
      say('its lock file differs: it runs with the dependencies of this tree');
    const hasSameModel = await isSame(tree, 'native-models/acuity-base/manifest.json');
    if (!hasSameModel) say('its model differs: it runs its own, and its scores are not checked');
    return await use(peerIn(tree, hasSameModel));
  } finally {
    await rm(join(tree, 'node_modules'), { force: true }); // the link, not its target
    await run('git', ['worktree', 'remove', '--force', tree], { cwd: ROOT });
    await rm(folder, { recursive: true });
  }
}

async function isSame(tree: string, path: string): Promise<boolean> {
  const [theirs, ours] = await Promise.all([tree, ROOT].map((root) => readFile(join(root, path), 'utf8')));
  return theirs === ours;
}

function peerIn(tree: string, scores: boolean): Peer {
  return {
    name: BASE,
    what: 'the service at the other revision',
    scores,
    command(key) {
      const { env, file } = ACUITY.command(key);
      const model = join(tree, 'native-models/acuity-base');
      return {
        name: BASE,
        file,
        args: [join(tree, 'dist/main.js'), 'serve'],
        env: { ...env, ACUITY_MODEL: model },
      };
    },
  };
}
