/** The remedy where a native library does not load: the sentence of `npm start`, and what a package needs beside it. */
import { createRequire } from 'node:module';

interface Platform {
  thisMachine(): object;
  problemOf(machine: object): string | undefined;
  fittingNode(machine: object): { readonly name: string; readonly line: number } | undefined;
}

/** Undefined where this Node and this system are not the problem. */
export function platformRemedy(): string | undefined {
  const require = createRequire(import.meta.url);
  const { thisMachine, problemOf, fittingNode } = require('../../../scripts/platform.cjs') as Platform;
  const problem = problemOf(thisMachine());
  const node = fittingNode(thisMachine());
  if (node === undefined) return problem;
  return `${problem}; "npm install --ignore-scripts ${node.name}@${node.line}" brings one, and "npx acuity" runs under it`;
}
