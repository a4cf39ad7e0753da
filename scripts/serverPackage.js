/** Builds what the server's package ships; `npm pack` runs it first. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build, failWith, install, ROOT } from './prepare.js';

/** The reference page's viewer is one file of a development package of many: it goes along, with its licences. */
const VIEWER = ['bundles/redoc.standalone.js', 'bundles/redoc.standalone.js.LICENSE.txt', 'LICENSE'];

try {
  await install();
  await build('src');
  mkdirSync(join(ROOT, 'dist/reference'), { recursive: true });
  for (const file of VIEWER) {
    const name = file.replace('bundles/', '');
    copyFileSync(join(ROOT, 'node_modules/redoc', file), join(ROOT, 'dist/reference', name));
  }
} catch (error) {
  failWith(error);
}
