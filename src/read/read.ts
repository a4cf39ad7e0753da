/** The readers of bodies: the fast path first, the exact path for what it defers. */
import type { BodyProblem, Finding } from '../contract/problems.js';
import { RECORDING, readOpened, readUnlessRecording, type ReaderOptions } from './exact.js';
import type { MeasuringConstants } from '../night/measuredRow.js';
import { finding } from './findings.js';
import type { PredictionRequest, ReadRequest } from '../night/request.js';
import { WasmParser } from './wasmParser.js';

/**
 * Reads one body; the request is valid until the next one is read. `constants` are those of the model that
 * will score it: without them, measurements are refused.
 */
export type RequestReader = (bytes: Uint8Array, constants?: MeasuringConstants) => ReadRequest | BodyProblem;

export function isBodyProblem(outcome: PredictionRequest | BodyProblem): outcome is BodyProblem {
  return 'kind' in outcome;
}

/** Like `RequestReader`; but a recording is left to a process of its own (`http/recordings/`). */
export type BodyReader = (...read: Parameters<RequestReader>) => ReturnType<RequestReader> | typeof RECORDING;

/** The readers of one thread, which share a parser: what one has read is valid until either reads again. */
export interface Readers {
  readonly readBody: BodyReader;
  /** For everything but the body of a single request: refuses a recording. */
  readonly readRequest: RequestReader;
}

/** For a model whose manifest lacks the `MeasuringConstants`. */
const UNMEASURABLE = 'The model in force takes no measurements';

/**
 * The parser, which the caller may also ask for other fields of the body, accepts or defers, and never refuses: a body
 * that it does not accept is read again on the exact path, which decides and words the refusal. What was read then takes
 * its place in the history that it brings.
 */
export function readersOf(parser: WasmParser, options: ReaderOptions): Readers {
  const readBody: BodyReader = (bytes, constants) => {
    const request = parser.read(bytes);
    if (request !== undefined) return placed(request, parser, constants);
    if (parser.hasRecording) return RECORDING;
    const outcome = readUnlessRecording(options, parser);
    return outcome === RECORDING ? outcome : placed(outcome, parser, constants);
  };
  return {
    readBody,
    readRequest: (bytes, constants) =>
      placed(parser.read(bytes) ?? readOpened(options, parser), parser, constants),
  };
}

/** Reads `bytes` on the exact path alone. */
export function readExactly(
  bytes: Uint8Array,
  options: ReaderOptions,
  parser: WasmParser,
  constants?: MeasuringConstants,
): ReadRequest | BodyProblem {
  parser.open(bytes);
  return placed(readOpened(options, parser), parser, constants);
}

/** Places a session in its history, unless that or the session has measurements and the model takes none. */
export function placed(
  outcome: ReadRequest | BodyProblem,
  parser: WasmParser,
  constants: MeasuringConstants | undefined,
): ReadRequest | BodyProblem {
  if (isBodyProblem(outcome)) return outcome;
  const { place, measurements } = outcome;
  if (place === undefined && measurements === undefined) return outcome;
  const newMeasurements = (place?.given ?? measurements ?? []).length;
  const findings: Finding[] = [];
  if (constants === undefined && place !== undefined && !parser.desk.history.measurements.isEmpty)
    findings.push(finding(['body', 'history'], 'value_error', `${UNMEASURABLE}: the history has some`));
  if (constants === undefined && newMeasurements > 0)
    findings.push(finding(['body', 'measurements'], 'value_error', UNMEASURABLE));
  if (findings.length > 0) return parser.priced({ kind: 'unprocessable', findings, newMeasurements });
  return place === undefined ? outcome : parser.placed(outcome, place, constants);
}

export function createReaders(options: ReaderOptions): Readers {
  return readersOf(new WasmParser(options), options);
}

export function createReader(options: ReaderOptions): RequestReader {
  return createReaders(options).readRequest;
}
