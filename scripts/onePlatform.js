/**
 * `node scripts/onePlatform.js`: removes the native libraries of other platforms and other Node versions from
 * node_modules, for images and archives. (Installing a working copy removes those of other platforms.)
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
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
  const modules = fileURLToPath(new URL('../node_modules', import.meta.url));
  keepOnePlatform(modules, { platform, arch, abi: versions.modules });
}
