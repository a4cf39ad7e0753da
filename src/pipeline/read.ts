import type { BodyProblem } from '../contract/problems.js';
import type { SeriesLimits } from '../contract/request.js';
import { readExactly } from './exact.js';
import { WasmParser, hasUnitError, type PredictionRequest } from './wasmParser.js';

/** Reads one body; the request holds until the next one is read. */
export type RequestReader = (bytes: Uint8Array) => PredictionRequest | BodyProblem;

export function isBodyProblem(outcome: PredictionRequest | BodyProblem): outcome is BodyProblem {
  return 'kind' in outcome;
}

/**
 * The reader of one thread. The parser only ever says yes: whatever it does not take is read again on the
 * exact path, which decides and words the refusal.
 */
export function createReader(limits: SeriesLimits): RequestReader {
  const parser = new WasmParser(limits);
  return (bytes) => readFast(parser, bytes) ?? readExactly(bytes, limits, parser);
}

/** The request in `bytes`, or undefined where the exact path must look. */
export function readFast(parser: WasmParser, bytes: Uint8Array): PredictionRequest | undefined {
  const request = parser.read(bytes);
  return request === undefined || hasUnitError(request) ? undefined : request;
}
