/** `npm run bench` and others: builds what changed, then runs a compiled program, both under a Node that fits. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, failWith, install, ROOT } from './prepare.js';

await install()
  .then(() => build('all'))
  .catch(failWith);
process.argv.splice(1, 1);
await import(pathToFileURL(join(ROOT, process.argv[1])).href);
