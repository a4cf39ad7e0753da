/**
 * The compiled code of the HTTP library, which its package's author takes from somebody else: what is about to be
 * loaded must be what was looked at. `node scripts/httpBinary.js` writes the list, for another version of the package;
 * it is in the form of `sha256sum`, so that upstream's files are compared with it too (docs/DEPENDENCIES.md).
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
 * What is to be told of the binary that this Node loads; undefined where it is the listed one, or there is none.
 * `isFault`: it must not be loaded. Another package than the listed one, as upstream's own, is its user's choice.
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
  const installed = packageIn(root);
  if (!listed?.startsWith(`${installed.name} `)) {
    const sentence = `the HTTP library is ${installed.name} ${installed.version}, not ${listed}, whose binaries ${LIST} lists: ${file} is not compared`;
    return { isFault: false, sentence };
  }
  const sentence = `${PACKAGE}/${file} is not what ${LIST} lists for ${listed}: ${REMEDY}`;
  return { isFault: true, sentence };
}

/** The list of all binaries of the installed package. */
export function httpBinaryList(root) {
  const { name, version } = packageIn(root);
  const files = readdirSync(join(root, PACKAGE)).filter((file) => file.endsWith('.node'));
  const lines = files.toSorted().map((file) => lineOf(join(root, PACKAGE, file), file));
  return `# ${name} ${version}: written by node scripts/httpBinary.js\n${lines.join('')}`;
}

function lineOf(path, file) {
  return `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${file}\n`;
}

/** @returns {{ readonly name: string, readonly version: string }} */
function packageIn(root) {
  return JSON.parse(readFileSync(join(root, PACKAGE, 'package.json'), 'utf8'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  writeFileSync(join(root, LIST), httpBinaryList(root));
}
