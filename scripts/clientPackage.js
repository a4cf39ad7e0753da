/** The step `client`: what the package `acuity-client` ships, as ECMAScript modules and as CommonJS. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { endOnError, filesBelow, ROOT, runToEnd, TSC } from './prepare.js';

const PACKAGE = join(ROOT, 'packages/client-ts');
/** The packages of this repository that the client imports. */
const BROUGHT = ['rules', 'adapters'];
/** Where the compiler finds the client and these in one folder: the package must not depend on other files. */
const TOGETHER = join(ROOT, '.build/client-package');
/** Built here and moved when complete, because other processes may be running the previous one. */
const FRESH = join(ROOT, '.build/client-package-dist');
const DIST = join(PACKAGE, 'dist');

endOnError();
for (const folder of [TOGETHER, FRESH]) rmSync(folder, { recursive: true, force: true });
bring(join(PACKAGE, 'src'), TOGETHER);
for (const name of BROUGHT) bring(join(ROOT, `packages/${name}/src`), join(TOGETHER, name));
for (const format of ['esm', 'cjs']) {
  compile(format, '--emitDeclarationOnly');
  // Editors show the comments of the declarations; in the code they would be a quarter of the package.
  compile(format, '--declaration', 'false', '--removeComments');
}
// Without this file Node would read the CommonJS files as modules, because of the package's own package.json.
writeFileSync(join(FRESH, 'cjs/package.json'), '{ "type": "commonjs" }\n');
rmSync(DIST, { recursive: true, force: true });
renameSync(FRESH, DIST);

/** Copies sources; their imports of other packages then point to a file beside them. */
function bring(from, to) {
  for (const source of filesBelow(from)) {
    const target = join(to, relative(from, source));
    const pathTo = (name) => {
      const path = relative(dirname(target), join(TOGETHER, name));
      return path.startsWith('.') ? path : `./${path}`;
    };
    const text = BROUGHT.reduce(
      (code, name) => code.replaceAll(`'#${name}/`, `'${pathTo(name)}/`),
      readFileSync(source, 'utf8'),
    );
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}

function compile(format, ...options) {
  const project = `tsconfig.${format}.json`;
  const command = [TSC, '-p', join(PACKAGE, project), '--outDir', join(FRESH, format), ...options];
  runToEnd(process.execPath, ...command);
}
