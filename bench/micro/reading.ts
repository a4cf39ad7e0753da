import assert from 'node:assert/strict';
import { DEFAULT_SERIES_LIMITS, PAST_MAX } from '#rules/fields.js';
import { FEATURE_COUNT, FEATURE_INDEX } from '#acuity/contract/features.js';
import { bodiesOf, PAYLOADS, type PayloadName } from '#acuity/tune/load/payloads.js';
import { featurisePast, featuriseRecord } from '#acuity/night/featurise.js';
import { isBodyProblem, placed, readExactly } from '#acuity/read/read.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import type { PredictionRequest } from '#acuity/night/request.js';
import { CONSTANTS } from '#bench/load/historyField.js';
import { FORMS } from '#bench/load/forms.js';
import { inputOf } from '#bench/peers/features.js';
import { turning, type MicroCase, type Suite } from './harness.js';

const VARIANTS = 8;

/** From the bytes to a request: the parser, the exact path, and JSON.parse alone. */
export const READ = suite('read', () =>
  PAYLOADS.flatMap((payload): MicroCase[] => {
    const bodies = bodiesOf(payload).map((body) => Buffer.from(body));
    const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
    const next = turning(bodies);
    const pastCount = payload === 'history' ? PAST_MAX : 0;
    const check = (result: unknown): void =>
      assert.equal((result as PredictionRequest | undefined)?.pastCount, pastCount);
    return [
      { name: `${payload}: parser`, units: 1, run: () => parser.read(next()), check },
      {
        name: `${payload}: exact path`,
        units: 1,
        run: () => readExactly(next(), DEFAULT_SERIES_LIMITS, parser),
        check,
      },
      {
        name: `${payload}: JSON.parse alone`,
        units: 1,
        run: () => JSON.parse(next().toString('utf8')) as unknown,
        check: (result) => assert.ok(Object.hasOwn(result as object, 'current_session')),
      },
    ];
  }),
);

/** The parser's time for the same history in the forms that callers use. Fails for a body that it defers to the exact path. */
export const READ_FORMS = suite('forms', () =>
  FORMS.map(({ name, texts }) => {
    const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
    const next = turning(texts(VARIANTS).map((text) => Buffer.from(text)));
    const run = () => {
      const request = parser.read(next());
      return request && placed(request, parser, CONSTANTS);
    };
    return { name, units: 1, run, check: (result) => assert.notEqual(result, undefined) };
  }),
);

/** From a request to the rows of the network. */
export const FEATURISE = suite('featurise', () =>
  PAYLOADS.map((payload) => {
    const requests = readRequests(payload);
    const next = turning(requests);
    const rows = inputOf(next());
    return {
      name: payload,
      units: 1,
      run() {
        const request = next();
        featuriseRecord(request.records, 0, rows.session, 0);
        if (rows.past !== undefined) featurisePast(request, rows.past, 0);
      },
      check() {
        assert.equal(rows.session.length, FEATURE_COUNT);
        assert.equal(rows.session[FEATURE_INDEX.get('age_known') ?? NaN], 1);
        assert.ok(rows.session.every(Number.isFinite));
        assert.equal(rows.past?.present.every((present) => present === 1) ?? true, true);
      },
    };
  }),
);

/** The requests of a payload, each in its own parser, so that all stay valid. */
export function readRequests(payload: PayloadName): PredictionRequest[] {
  return bodiesOf(payload).map((body) => {
    const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
    const request = readExactly(Buffer.from(body), DEFAULT_SERIES_LIMITS, parser);
    if (isBodyProblem(request)) throw new Error('a payload of the bench is no valid request');
    return request;
  });
}

function suite(name: string, casesOf: () => readonly MicroCase[]): Suite {
  return { name, open: () => Promise.resolve({ cases: casesOf() }) };
}
