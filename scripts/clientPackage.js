/** Builds what the package `acuity-client` ships, as ECMAScript modules and as CommonJS; `npm pack` runs it first. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failWith, install, ROOT, StepFailed } from './prepare.js';

const PACKAGE = join(ROOT, 'packages/client-ts');

try {
  await install();
  rmSync(join(PACKAGE, 'dist'), { recursive: true, force: true });
  for (const project of ['tsconfig.esm.json', 'tsconfig.cjs.json']) {
    compile(project, '--emitDeclarationOnly');
    // Editors show the comments of the declarations; in the code they would be a quarter of the package.
    compile(project, '--declaration', 'false', '--removeComments');
  }
  mkdirSync(join(PACKAGE, 'dist/cjs'), { recursive: true });
  // Without it Node would take the CommonJS files for modules, as the package's own package.json says.
  writeFileSync(join(PACKAGE, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n');
} catch (error) {
  failWith(error);
}

function compile(project, ...options) {
  const command = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', join(PACKAGE, project), ...options];
  const { status } = spawnSync(process.execPath, command, { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new StepFailed(`tsc -p ${project} failed`);
}
