import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#bench/paths.js';

/** What `bench/setup.sh` builds. */
export const RUST_PROGRAM = join(ROOT, '.build/rust/release/acuity-peer');

/** The program loads it at start-up: the same library that the service runs on. */
const ORT_LIBRARIES = join(ROOT, 'node_modules/onnxruntime-node/bin');

/** Why the peer can't run here; undefined where it can. */
export function rustUnavailable(): string | undefined {
  if (!existsSync(RUST_PROGRAM)) return 'its program is absent: bench/setup.sh builds it where cargo is';
  return ortLibrary() === undefined ? 'onnxruntime-node has no library for this machine' : undefined;
}

export function rustEnvironment(): Record<string, string> {
  return { BENCH_ORT: ortLibrary() ?? '' };
}

function ortLibrary(): string | undefined {
  if (!existsSync(ORT_LIBRARIES)) return undefined;
  const folders = readdirSync(ORT_LIBRARIES).map((api) =>
    join(ORT_LIBRARIES, api, process.platform, process.arch),
  );
  const files = folders.flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).map((file) => join(folder, file)) : [],
  );
  return files.find((file) => /libonnxruntime\.so\.1/.test(file));
}
