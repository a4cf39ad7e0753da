import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestCheck } from '#acuity/model/manifest.js';
import { MODEL_FOLDER } from '#bench/paths.js';

/** What the shipped model says of measurements. */
export const CONSTANTS = read();

function read() {
  const manifest: unknown = JSON.parse(readFileSync(join(MODEL_FOLDER, 'manifest.json'), 'utf8'));
  if (!manifestCheck.Check(manifest) || manifest.measured === undefined)
    throw new Error(`${MODEL_FOLDER} takes no measurements`);
  return manifest.measured;
}
