/** `npm run check`: everything that must hold before a change goes in. Runs every check, then fails if one failed. */
import { spawnSync } from 'node:child_process';
import { failWith, install, ROOT } from './prepare.js';

const CHECKS = [
  ['format', 'node_modules/prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.'],
  ['lint', 'node_modules/oxlint/bin/oxlint', '--deny-warnings'],
  ['types', 'node_modules/typescript/bin/tsc', '-b'],
  [
    'import rules',
    'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
    '--config=.dependency-cruiser.cjs',
    'src',
    'packages/client-ts/src',
    'test',
    'bench',
    'native-models/training',
  ],
  ['dead code', 'node_modules/knip/bin/knip.js'],
  ['tests', 'scripts/test.js'],
];

try {
  await install();
} catch (error) {
  failWith(error);
}

const failed = CHECKS.filter(([name, ...command]) => {
  process.stdout.write(`\n— ${name}\n`);
  return (
    spawnSync(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] }).status !== 0
  );
}).map(([name]) => name);

process.stdout.write(failed.length === 0 ? '\nevery check passed\n' : `\nfailed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
