import type { BodyProblem } from '../contract/problems.js';
import type { Measuring } from '../history/historyDesk.js';
import { RECORDING, readOpened, readUnlessRecording, type ReaderOptions } from './exact.js';
import type { PredictionRequest, ReadRequest } from '../records/request.js';
import { WasmParser } from './wasmParser.js';

/**
 * Reads one body; the request is valid until the next one is read. `constants` are those of the model that
 * will score it: without them, measurements are refused.
 */
export type RequestReader = (
  bytes: Uint8Array,
  constants?: Measuring['constants'],
) => ReadRequest | BodyProblem;

export function isBodyProblem(outcome: PredictionRequest | BodyProblem): outcome is BodyProblem {
  return 'kind' in outcome;
}

/** Like `RequestReader`; but a recording is left to a process of its own (`recording/`). */
export type BodyReader = (
  bytes: Uint8Array,
  constants?: Measuring['constants'],
) => ReadRequest | BodyProblem | typeof RECORDING;

/** The readers of one thread, which share a parser: what one has read is valid until either reads again. */
export interface Readers {
  readonly readBody: BodyReader;
  /** For everything but the body of a single request: refuses a recording. */
  readonly readRequest: RequestReader;
}

/**
 * The parser, which the caller may also ask for other fields of the body, accepts or defers, and never refuses: a body
 * that it does not accept is read again on the exact path, which decides and words the refusal.
 */
export function readersOf(parser: WasmParser, options: ReaderOptions): Readers {
  return {
    readRequest: (bytes, constants) =>
      parser.read(bytes, constants) ?? readOpened(options, parser, constants),
    readBody: (bytes, constants) =>
      parser.read(bytes, constants) ??
      (parser.hasRecording ? RECORDING : readUnlessRecording(options, parser, constants)),
  };
}

export function createReaders(options: ReaderOptions): Readers {
  return readersOf(new WasmParser(options), options);
}

export function createReader(options: ReaderOptions): RequestReader {
  return createReaders(options).readRequest;
}
