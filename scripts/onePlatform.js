/**
 * Removes from the installed packages what this machine and this Node don't load: native libraries of other platforms and
 * Node versions; for images and archives also source maps. (npm installs DuckDB's library for one platform alone.)
 * Installing a working copy removes other platforms' libraries; where the server is installed as a package, an operator runs
 * `node node_modules/acuity/scripts/onePlatform.js`, since a package could do so only in an install script.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Whether a platform needs a file or folder: everything but other platforms' native libraries. Without `abi`, of any Node. */
export function isOfPlatform(path, { platform, arch, abi }) {
  const [, uws] = /uWebSockets\.js[\\/](uws_.+\.node)$/.exec(path) ?? [];
  const ours = `uws_${platform}_${arch}_`;
  if (uws !== undefined) return abi === undefined ? uws.startsWith(ours) : uws === `${ours}${abi}.node`;
  const runtime = /onnxruntime-node[\\/]bin[\\/][^\\/]+[\\/]([^\\/]+)(?:[\\/]([^\\/]+))?/.exec(path);
  const [, itsPlatform = platform, itsArch = arch] = runtime ?? [];
  return itsPlatform === platform && itsArch === arch;
}

/** Whether a server that only serves needs a file or folder. */
export function isServed(path, kept) {
  return isOfPlatform(path, kept) && !/\.[cm]?[jt]s\.map$/.test(path);
}

/** @param {string} modules  a node_modules folder */
export function keepOnePlatform(modules, kept) {
  const folders = ['uWebSockets.js', 'onnxruntime-node/bin'].map((name) => join(modules, name));
  for (const folder of folders) removeBut((path) => isOfPlatform(path, kept), folder);
}

/** @param {string} modules  a node_modules folder */
export function keepServed(modules, kept) {
  removeBut((path) => isServed(path, kept), modules);
}

function removeBut(isKept, folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (!isKept(path)) rmSync(path, { recursive: true, force: true });
    else if (entry.isDirectory()) removeBut(isKept, path); // not what a link leads to
  }
}

const HERE = fileURLToPath(import.meta.url);
if (process.argv[1] === HERE) {
  const { platform, arch, versions } = process;
  const kept = { platform, arch, abi: versions.modules };
  const root = dirname(dirname(HERE));
  const around = dirname(root);
  // As a package it lies among those that it depends on, and among those of others.
  if (basename(around) === 'node_modules') keepOnePlatform(around, kept);
  else keepServed(join(root, 'node_modules'), kept);
}
