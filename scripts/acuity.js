/** `acuity` in a clone, under any Node from 18 on: the alias of the README. */
import { underFittingNode } from './ownNode.js';
import { failWith } from './prepare.js';

await underFittingNode('acuity').catch(failWith);
const { run } = await import('../dist/main.js');
await run(process.argv.slice(2));
