import assert from 'node:assert/strict';
import { FEATURE_COUNT, FEATURE_INDEX } from '#acuity/contract/features.js';
import { PAYLOADS, type PayloadName } from '#acuity/load/payloads.js';
import { inputOf, type ModelInput } from '#bench/peers/features.js';
import { featurisePast, featuriseSession } from '#acuity/pipeline/featurise.js';
import { nothing, turns, type MicroCase, type Suite } from './harness.js';
import { itemAt, readRequests } from './requests.js';

/** From a request to the rows of the network. */
export const FEATURISE: Suite = {
  name: 'featurise',
  open: () => Promise.resolve({ cases: PAYLOADS.map(caseOf), close: nothing }),
};

function caseOf(payload: PayloadName): MicroCase {
  const requests = readRequests(payload);
  const rows: ModelInput = inputOf(itemAt(requests, 0));
  const next = turns(requests.length);
  const ageKnown = FEATURE_INDEX.get('age_known') ?? NaN;
  return {
    name: payload,
    units: 1,
    run() {
      const request = itemAt(requests, next());
      featuriseSession(request, 0, rows.session, 0);
      if (rows.past !== undefined) featurisePast(request, rows.past, 0);
      return rows;
    },
    check() {
      assert.equal(rows.session.length, FEATURE_COUNT);
      assert.equal(rows.session[ageKnown], 1);
      assert.ok(rows.session.every(Number.isFinite));
      assert.equal(rows.past?.present.every((present) => present === 1) ?? true, true);
    },
  };
}
