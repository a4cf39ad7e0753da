/**
 * Checks the compiled code of the HTTP library, which its package's author takes from a third party: it must be the code
 * that was reviewed. `node scripts/httpBinary.js FOLDER` writes the list for another version of the package, unpacked in
 * FOLDER (`npm pack uwebsockets@VERSION`): an installed one has the binaries of one platform only. The list is in the form
 * of `sha256sum`, so that upstream's files are compared with it too (docs/DEPENDENCIES.md).
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = 'node_modules/uWebSockets.js';
const LIST = 'scripts/uwebsockets.sha256';
const REMEDY =
  'remove node_modules and install again; where it differs still, do not run it and see docs/DEPENDENCIES.md';

/**
 * The problem with the binary that this Node loads; undefined if it is the listed one, or there is none.
 * `isFault`: it must not be loaded. Using another package than the listed one, such as upstream's own, is the user's choice.
 * @param {string} root
 * @returns {{ readonly isFault: boolean, readonly sentence: string } | undefined}
 */
export function httpBinaryProblem(root, { platform, arch, versions } = process) {
  const file = `uws_${platform}_${arch}_${versions.modules}.node`;
  const path = join(root, PACKAGE, file);
  if (!existsSync(path)) return undefined;
  const list = readFileSync(join(root, LIST), 'utf8');
  if (list.includes(lineOf(path, file))) return undefined;
  const listed = list.match(/^# (\S+ [^\s:]+)/)?.[1];
  const installed = packageIn(join(root, PACKAGE));
  if (!listed?.startsWith(`${installed.name} `)) {
    const sentence = `the HTTP library is ${installed.name} ${installed.version}, not ${listed}, whose binaries ${LIST} lists: ${file} is not compared`;
    return { isFault: false, sentence };
  }
  const sentence = `${PACKAGE}/${file} is not what ${LIST} lists for ${listed}: ${REMEDY}`;
  return { isFault: true, sentence };
}

/** The list of all binaries of the package in `folder`. */
export function httpBinaryList(root, folder = join(root, PACKAGE)) {
  const { name, version } = packageIn(folder);
  const files = readdirSync(folder).filter((file) => file.endsWith('.node'));
  const lines = files.toSorted().map((file) => lineOf(join(folder, file), file));
  return `# ${name} ${version}: written by node scripts/httpBinary.js\n${lines.join('')}`;
}

function lineOf(path, file) {
  return `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${file}\n`;
}

/** @returns {{ readonly name: string, readonly version: string }} */
function packageIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const folder = process.argv[2];
  if (folder === undefined) {
    process.stderr.write(
      'usage: node scripts/httpBinary.js FOLDER (of `npm pack uwebsockets@VERSION`, unpacked)\n',
    );
    process.exit(2);
  }
  writeFileSync(join(root, LIST), httpBinaryList(root, folder));
}
