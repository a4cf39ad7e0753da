import assert from 'node:assert/strict';
import { DEFAULT_SERIES_LIMITS, PAST_MAX } from '#rules/fields.js';
import { readExactly } from '#acuity/reading/exact.js';
import type { PredictionRequest } from '#acuity/records/request.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { PAYLOADS, type PayloadName } from '#acuity/load/payloads.js';
import { nothing, turns, type MicroCase, type Suite } from './harness.js';
import { bytesOf, itemAt } from './requests.js';

/** From the bytes to a request: the parser, the exact path, and JSON.parse alone. */
export const READ: Suite = {
  name: 'read',
  open: () => Promise.resolve({ cases: PAYLOADS.flatMap(casesOf), close: nothing }),
};

function casesOf(payload: PayloadName): MicroCase[] {
  const bodies = bytesOf(payload);
  const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
  const pastCount = payload === 'history' ? PAST_MAX : 0;
  const next = turns(bodies.length);
  const body = (): Buffer => itemAt(bodies, next());
  const isRead = (result: unknown): void => {
    assert.equal((result as PredictionRequest | undefined)?.pastCount, pastCount);
  };
  return [
    { name: `${payload}: parser`, units: 1, run: () => parser.read(body()), check: isRead },
    {
      name: `${payload}: exact path`,
      units: 1,
      run: () => readExactly(body(), DEFAULT_SERIES_LIMITS, parser),
      check: isRead,
    },
    {
      name: `${payload}: JSON.parse alone`,
      units: 1,
      run: () => JSON.parse(body().toString('utf8')) as unknown,
      check: (result) => assert.ok(Object.hasOwn(result as object, 'current_session')),
    },
  ];
}
