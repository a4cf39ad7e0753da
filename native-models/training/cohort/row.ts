import { SERIES_FIELDS } from '#rules/fields.js';
import { featuriseRecord } from '#acuity/night/featurise.js';
import { isUnitError } from '#acuity/read/unitErrors.js';
import type { PredictionRequest } from '#acuity/night/request.js';
import type { WasmParser } from '#acuity/read/wasmParser.js';
import { writeScalars } from '#acuity/night/places.js';
import type { Recording } from './sensor.js';

/** Writes the feature row of a recorded session, through the service's own pipeline. */
export function writeRow(parser: WasmParser, recording: Recording, rows: Float32Array, offset: number): void {
  featuriseRecord(readRecording(parser, recording).records, 0, rows, offset);
}

/** A recorded session as the service reads it; valid until the next one is read. */
export function readRecording(parser: WasmParser, recording: Recording): PredictionRequest {
  const { session, samples, bounds } = recording;
  const request = parser.blank(0);
  writeScalars(session, request.records, 0);
  for (const field of SERIES_FIELDS) {
    const k = session[field]?.[0];
    if (k === undefined) continue;
    parser.summarise(samples.subarray(bounds[2 * k], bounds[2 * k + 1]), field, 0);
    if (isUnitError(request, 0, field)) throw new Error('the cohort wrote a session in wrong units');
  }
  return request;
}
