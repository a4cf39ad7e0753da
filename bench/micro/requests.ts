import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { readExactly } from '#acuity/reading/exact.js';
import type { PredictionRequest } from '#acuity/records/request.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { isBodyProblem } from '#acuity/reading/read.js';
import { bodiesOf, type PayloadName } from '#acuity/load/payloads.js';

/** The bodies of a payload as bytes. */
export function bytesOf(payload: PayloadName): Buffer[] {
  return bodiesOf(payload).map((body) => Buffer.from(body));
}

/** The requests of a payload, each in its own parser, so that all stay valid. */
export function readRequests(payload: PayloadName): PredictionRequest[] {
  return bytesOf(payload).map((bytes) => {
    const request = readExactly(bytes, DEFAULT_SERIES_LIMITS, new WasmParser(DEFAULT_SERIES_LIMITS));
    if (isBodyProblem(request)) throw new Error('a payload of the bench is no valid request');
    return request;
  });
}

/** The element of `items` whose turn it is. */
export function itemAt<T>(items: readonly T[], turn: number): T {
  const item = items[turn];
  if (item === undefined) throw new RangeError(`no item ${turn}`);
  return item;
}
