import { readFileSync, statSync } from 'node:fs';
import { messageOf } from '../base/errors.js';
import { OperatorError } from '../base/operatorError.js';
import { normsIn, type Norms } from './norm.js';

/** The norms that come with the service: `packages/norms`. */
export const NORMS: Norms = new Map(
  ['published', 'computed'].flatMap((name) => [
    ...normsOf(new URL(`../../packages/norms/${name}.json`, import.meta.url)),
  ]),
);

/**
 * The norms of the service and of the operator's own `file` in the same form, if there is one ('' for none); it may replace some.
 * @throws OperatorError
 */
export function readNorms(file: string): Norms {
  return file === '' ? NORMS : new Map([...NORMS, ...normsOf(file)]);
}

function normsOf(file: string | URL): Norms {
  const norms = normsIn(contentOf(file));
  if (typeof norms !== 'string') return norms;
  throw new OperatorError(
    `ACUITY_NORMS must be a file in the form of packages/norms/published.json: ${norms}`,
  );
}

function contentOf(file: string | URL): unknown {
  try {
    // A pipe would let the start wait for ever.
    if (!statSync(file).isFile()) throw new Error(`${String(file)} is no file`);
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new OperatorError(
      `ACUITY_NORMS must be a JSON file of norms: ${messageOf(error).replaceAll(/\s+/g, ' ')}`,
      { cause: error },
    );
  }
}
