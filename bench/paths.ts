import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository; this file runs from .build/bench. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Where the files of bench/ are compiled to. */
export const COMPILED = join(ROOT, '.build/bench');
export const SERVICE_ENTRY = join(ROOT, 'dist/main.js');
export const MODEL_FOLDER = join(ROOT, 'native-models/acuity-base');
