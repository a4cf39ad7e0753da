import assert from 'node:assert/strict';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { CONSTANTS } from '#bench/load/constants.js';
import { FORMS, type Form } from '#bench/load/forms.js';
import { WasmParser } from '#acuity/reading/wasmParser.js';
import { nothing, turns, type MicroCase, type Suite } from './harness.js';
import { itemAt } from './requests.js';

const VARIANTS = 8;

/** The parser's time for the same history in the forms that callers use. */
export const FORMS_SUITE: Suite = {
  name: 'forms',
  open: () => Promise.resolve({ cases: FORMS.map(caseOf), close: nothing }),
};

/** Fails the check for a body that the parser defers to the exact path. */
function caseOf({ name, texts }: Form): MicroCase {
  const bodies = texts(VARIANTS).map((text) => Buffer.from(text));
  const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
  const next = turns(bodies.length);
  return {
    name,
    units: 1,
    run: () => parser.read(itemAt(bodies, next()), CONSTANTS),
    check: (result) => assert.notEqual(result, undefined),
  };
}
