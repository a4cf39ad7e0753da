import assert from 'node:assert/strict';
import { systemClock } from '#acuity/base/clock.js';
import { MetricReader } from '#acuity/base/metrics.js';
import {
  loopRecorders,
  METRICS,
  STATUSES,
  KEY_KINDS,
  allocateLoopMetrics,
} from '#acuity/contract/metrics.js';
import { RequestMetrics } from '#acuity/http/requestMetrics.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { turning, type MicroCase, type Suite } from './harness.js';

/** The cost of counting a request, including its clock readings. */
export const METRICS_SUITE: Suite = {
  name: 'metrics',
  open: () => Promise.resolve({ cases: [scored()] }),
};

const SERVED_LIVE = STATUSES.indexOf(200) * KEY_KINDS.length + KEY_KINDS.indexOf('live');
const BATCH_ROWS = 16;
const BODY_BYTES = 2800;

/** The calls of one request on its way, with its share of the batch's. */
function scored(): MicroCase {
  const memory = allocateLoopMetrics();
  const recorders = loopRecorders(memory);
  const metrics = new RequestMetrics(recorders);
  const request = new WasmParser(DEFAULT_SERIES_LIMITS).written(0, 0);
  // Waits from a hundredth of a millisecond to a few: a constant value would favour branch prediction.
  const nextWait = turning(Array.from({ length: 64 }, (_, index) => 0.01 * 1.1 ** index));
  let rows = 0;
  return {
    name: 'a scored request',
    units: 1,
    run() {
      const receivedMs = systemClock.monotonicMs();
      metrics.received(BODY_BYTES);
      metrics.understood(request);
      const queueMs = nextWait();
      const timing = {
        admittedMs: receivedMs,
        queueMs,
        dispatchMs: queueMs / 2,
        inferMs: 0.1,
        rows: 1,
        scoredMs: receivedMs,
      };
      const endedMs = systemClock.monotonicMs();
      metrics.answered(200, 'live');
      metrics.served({ startedMs: receivedMs - queueMs, receivedMs, endedMs, timing });
      rows++;
      if (rows < BATCH_ROWS) return memory;
      rows = 0;
      recorders.batchRows.observe(0, BATCH_ROWS);
      recorders.workerBusy.add(0, 0.1);
      return memory;
    },
    check: () => assert.ok(new MetricReader(METRICS, [memory]).total('requests', SERVED_LIVE) > 0),
  };
}
