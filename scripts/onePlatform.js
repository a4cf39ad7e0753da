/**
 * `node scripts/onePlatform.js`: removes the native libraries of other platforms and other Node versions from
 * node_modules, for images and archives: some 500 MB of 550. Not for a working copy that others share.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './prepare.js';

/** Entries of `folder` that are not to stay. */
function removeOthers(folder, isKept) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (!isKept(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** @param {string} modules  a node_modules folder */
export function keepOnePlatform(modules, { platform, arch, abi }) {
  const uws = `uws_${platform}_${arch}_${abi}.node`;
  removeOthers(join(modules, 'uWebSockets.js'), (name) => !name.endsWith('.node') || name === uws);
  const runtimes = join(modules, 'onnxruntime-node/bin');
  if (!existsSync(runtimes)) return;
  for (const napi of readdirSync(runtimes)) {
    removeOthers(join(runtimes, napi), (name) => name === platform);
    removeOthers(join(runtimes, napi, platform), (name) => name === arch);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { platform, arch, versions } = process;
  keepOnePlatform(join(ROOT, 'node_modules'), { platform, arch, abi: versions.modules });
}
