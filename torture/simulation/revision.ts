import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The root of this tree. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What a run follows from, beside its seed. */
const SOURCES = ['src', 'packages/rules', 'assembly', 'torture/simulation', 'test/fixtures'];

/** The commit, and after a `+` a digest of what differs from it; `unknown` where there is no Git. */
export function revision(): string {
  try {
    const commit = git('rev-parse', '--short=12', 'HEAD').trim();
    const changed = git('diff', 'HEAD', '--', ...SOURCES);
    const added = git('ls-files', '--others', '--exclude-standard', '--', ...SOURCES);
    if (changed === '' && added === '') return commit;
    const digest = createHash('sha256').update(changed);
    for (const path of added.split('\n').filter((line) => line !== ''))
      digest.update(readFileSync(ROOT + path));
    return `${commit}+${digest.digest('hex').slice(0, 8)}`;
  } catch {
    return 'unknown';
  }
}

/** Where Git keeps this repository; '' where there is none. */
export function gitFolder(): string {
  try {
    return git('rev-parse', '--absolute-git-dir').trim();
  } catch {
    return '';
  }
}

function git(...words: readonly string[]): string {
  return execFileSync('git', words, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}
