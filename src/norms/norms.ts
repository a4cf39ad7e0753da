import { readFileSync, statSync } from 'node:fs';
import { messageOf } from '../base/errors.js';
import { OperatorError } from '../base/operatorError.js';
import { normsIn, type Norm, type Norms } from './norm.js';

/** The norms that come with the service: `packages/norms`, which the compiler copies beside this file. */
export const NORMS: Norms = new Map(
  ['published', 'computed'].flatMap((name) => {
    const text = readFileSync(new URL(`./${name}.json`, import.meta.url), 'utf8');
    return Object.entries(JSON.parse(text) as Record<string, Norm>);
  }),
);

/**
 * The norms of the service, and those in the operator's own `file` ('' for none), which come first.
 * @throws OperatorError
 */
export function readNorms(file: string): Norms {
  return file === '' ? NORMS : new Map([...NORMS, ...ownNorms(file)]);
}

function ownNorms(file: string): Norms {
  try {
    // A pipe would let the start wait for ever.
    if (!statSync(file).isFile()) throw new Error('not a file');
    const norms = normsIn(JSON.parse(readFileSync(file, 'utf8')));
    if (typeof norms !== 'string') return norms;
    throw new Error(norms);
  } catch (error) {
    const cause = messageOf(error).replaceAll(/\s+/g, ' ');
    const form = 'a file in the form of packages/norms/published.json';
    throw new OperatorError(`ACUITY_NORMS must be ${form}; of ${file}: ${cause}`, { cause: error });
  }
}
