/**
 * `node scripts/archive.js`: packs the service and everything it runs on, including this command's Node, into one file for
 * the machines of an engine (docs/BULK.md): `.build/engine/acuity-PLATFORM-ARCH.tar.gz`. Its program is `bin/acuity`;
 * `python` has the Python client.
 */
import { chmodSync, cpSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isServed } from './onePlatform.js';
import { endOnError, outputOf, ROOT, runToEnd } from './prepare.js';

const PARTS = [
  'package.json',
  'LICENSE',
  'assets',
  'dist',
  'docs',
  'native-models/acuity-base',
  'scripts/platform.cjs',
];
const CLIENT = 'packages/client-python/src/acuity_client';
const EXECUTABLE = 0o755;

/** Finds its own folder without any other program, because a worker's PATH may be empty. */
const PROGRAM = `#!/bin/sh
here=\${0%/*}
exec "$here/node" "$here/../dist/main.js" "$@"
`;

/** The folders of the installed packages that ship: those that the root's dependencies lead to. */
export function shippedPackages() {
  const args = ['ls', '--all', '--parseable', '--omit=dev', '--workspaces=false'];
  const [, ...packages] = outputOf('npm', ...args)
    .trim()
    .split('\n');
  return packages.map((path) => relative(realpathSync(ROOT), path));
}

/** Fills `folder`, which must not exist yet. */
export function writeDistribution(folder) {
  for (const path of PARTS) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  runToEnd('python3', 'packages/client-python/unasync.py');
  const filter = (path) => !path.endsWith('__pycache__');
  cpSync(join(ROOT, CLIENT), join(folder, 'python/acuity_client'), { recursive: true, filter });
  const { platform, arch, versions } = process;
  const isKept = (path) => isServed(path, { platform, arch, abi: versions.modules });
  for (const path of shippedPackages())
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, dereference: true, filter: isKept });
  mkdirSync(join(folder, 'bin'));
  cpSync(process.execPath, join(folder, 'bin/node'), { dereference: true });
  writeFileSync(join(folder, 'bin/acuity'), PROGRAM);
  for (const name of ['node', 'acuity']) chmodSync(join(folder, 'bin', name), EXECUTABLE);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(ROOT, '.build/archive');
  const archive = join(ROOT, `.build/engine/acuity-${process.platform}-${process.arch}.tar.gz`);
  endOnError();
  runToEnd(process.execPath, 'scripts/build.js', 'src');
  rmSync(folder, { recursive: true, force: true });
  writeDistribution(folder);
  mkdirSync(dirname(archive), { recursive: true });
  runToEnd('tar', '-czf', archive, '-C', folder, '.');
  process.stdout.write(`${archive}\n`);
}
