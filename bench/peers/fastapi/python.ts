import { join } from 'node:path';
import { ROOT } from '#bench/paths.js';

/** The interpreter of the virtual environment that `setup.sh` makes. */
export function fastapiPython(): string {
  return join(ROOT, '.build/fastapi/bin/python');
}
