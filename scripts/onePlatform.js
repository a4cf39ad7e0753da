/**
 * `node scripts/onePlatform.js`: removes the native libraries of other platforms and other Node versions from
 * node_modules, for images and archives: some 500 MB of 550. Not for a working copy that others share.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './prepare.js';

/** Whether a file or folder is needed on a platform: everything but native libraries of others. */
export function isOfPlatform(path, { platform, arch, abi }) {
  const [, uws] = /uWebSockets\.js[\\/](uws_.+\.node)$/.exec(path) ?? [];
  if (uws !== undefined) return uws === `uws_${platform}_${arch}_${abi}.node`;
  const runtime = /onnxruntime-node[\\/]bin[\\/][^\\/]+[\\/]([^\\/]+)(?:[\\/]([^\\/]+))?/.exec(path);
  const [, itsPlatform = platform, itsArch = arch] = runtime ?? [];
  return itsPlatform === platform && itsArch === arch;
}

/** @param {string} modules  a node_modules folder */
export function keepOnePlatform(modules, kept) {
  for (const folder of ['uWebSockets.js', 'onnxruntime-node/bin'].map((name) => join(modules, name))) {
    if (!existsSync(folder)) continue;
    for (const name of readdirSync(folder, { recursive: true })) {
      const path = join(folder, name);
      if (!isOfPlatform(path, kept)) rmSync(path, { recursive: true, force: true });
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { platform, arch, versions } = process;
  keepOnePlatform(join(ROOT, 'node_modules'), { platform, arch, abi: versions.modules });
}
