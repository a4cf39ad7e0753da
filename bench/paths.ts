import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository; this file runs from .build/bench. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A file of bench/ that is not compiled. */
export function sourcePath(...parts: readonly string[]): string {
  return join(ROOT, 'bench', ...parts);
}

/** A compiled file of bench/. */
export function compiledPath(...parts: readonly string[]): string {
  return join(ROOT, '.build/bench', ...parts);
}

export const SERVICE_ENTRY = join(ROOT, 'dist/main.js');
export const MODEL_FOLDER = join(ROOT, 'native-models/acuity-base');
