/**
 * Puts the reference page's viewer beside what is compiled: one file of a development package, with its licences. So the
 * page is there however the service is installed, without development packages too.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILES = ['bundles/redoc.standalone.js', 'bundles/redoc.standalone.js.LICENSE.txt', 'LICENSE'];

const folder = join(ROOT, 'dist/reference');
mkdirSync(folder, { recursive: true });
for (const file of FILES) copyFileSync(join(ROOT, 'node_modules/redoc', file), join(folder, basename(file)));
