import t from 'tap';
import { KEY } from '../fixtures/loop.js';
import type { ExchangeRecord } from '#acuity/http/exchangeRecord.js';
import { RequestTracer } from '#acuity/http/requestTracer.js';
import { type TracedRequest, TraceQueue } from '#acuity/http/tracedRequest.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const TRACES_MAX = 5;
/** The monotonic clock of the thread began 1,000,000 ms after 1970. */
const CLOCK = { nowMs: () => 1_000_250, monotonicMs: () => 250 };

const RECORD: ExchangeRecord = {
  requestId: 'one',
  traceparent: `00-${TRACE}-${SPAN}-01`,
  startedMs: 100,
  receivedMs: 104,
  bodyBytes: 2000,
  caller: {
    outcome: 'limited',
    key: KEY,
    limit: 'burst',
    retryAfterS: 1,
    policy: '',
    state: '',
  },
};

function tracing(clock = CLOCK, isTaken = true) {
  const passed: TracedRequest[] = [];
  let dropped = 0;
  const tracer = new RequestTracer({
    secondMax: TRACES_MAX,
    clock,
    pass: (request) => isTaken && passed.push(request) > 0,
    onDropped: () => dropped++,
  });
  return { tracer, passed, dropped: () => dropped };
}

function traced(record: ExchangeRecord, ending: Parameters<RequestTracer['ended']>[1]): TracedRequest[] {
  const { tracer, passed } = tracing();
  tracer.ended(record, ending);
  return passed;
}

t.test('the stages of a scored request follow each other and fill its time', async (t) => {
  const timing = { admittedMs: 105, queueMs: 30, dispatchMs: 12, inferMs: 8, rows: 3, scoredMs: 143 };
  const [request, ...more] = traced(RECORD, { endedMs: 145, status: 200, timing });
  t.strictSame(more, []);
  t.strictSame(request, {
    parent: { traceId: TRACE, spanId: SPAN },
    requestId: 'one',
    startedMs: 1_000_100,
    totalMs: 45,
    stages: [
      ['receive', 4],
      ['read', 1],
      ['queue', 18],
      ['dispatch', 12],
      ['infer', 8],
      ['reply', 2],
    ],
    status: 200,
    cause: undefined,
    keyKind: 'live',
    bodyBytes: 2000,
    batchRows: 3,
    lines: undefined,
  });
  const sum = request?.stages.reduce((total, [, ms]) => total + ms, 0);
  t.equal(sum, request?.totalMs);
});

t.test('a refused request has the stages that it got to', async (t) => {
  const refused = traced(RECORD, { endedMs: 110, status: 422, cause: 'unprocessable' });
  t.match(refused, [{ status: 422, cause: 'unprocessable', stages: [['receive', 4]], batchRows: undefined }]);
  t.strictSame(traced({ ...RECORD, bodyBytes: 0 }, { endedMs: 101, status: 401 })[0]?.stages, []);
  t.equal(traced(RECORD, { endedMs: 110 })[0]?.status, undefined, 'a caller that hung up');
});

t.test('neither what the caller did not sample is traced, nor a request without a valid key', async (t) => {
  for (const traceparent of ['', `00-${TRACE}-${SPAN}-00`, 'nonsense'])
    t.strictSame(traced({ ...RECORD, traceparent }, { endedMs: 110, status: 200 }), []);
  const { tracer, passed, dropped } = tracing();
  tracer.ended({ ...RECORD, caller: undefined }, { endedMs: 110, status: 403, cause: 'keyInvalid' });
  t.strictSame([passed, dropped()], [[], 0]);
});

t.test('so many are traced in a second; the rest is counted', async (t) => {
  let nowMs = 1_000_250;
  const { tracer, passed, dropped } = tracing({ nowMs: () => nowMs, monotonicMs: () => 0 });
  for (let second = 1; second <= 3; second++, nowMs += 1000) {
    for (let count = 0; count < 2 * TRACES_MAX; count++) tracer.ended(RECORD, { endedMs: 110, status: 200 });
    t.equal(passed.length, second * TRACES_MAX);
    t.equal(dropped(), second * TRACES_MAX);
  }
  const full = tracing(CLOCK, false);
  full.tracer.ended(RECORD, { endedMs: 110, status: 200 });
  t.equal(full.dropped(), 1, 'what the main thread has no room for counts as well');
});

t.test('requests that wait for the main thread are bounded', async (t) => {
  const [request] = traced(RECORD, { endedMs: 110, status: 401 });
  if (request === undefined) throw new Error('nothing was passed on');
  const queue = new TraceQueue();
  let posted = 0;
  const post = (): void => void posted++;
  for (let sent = 0; sent < 5000; sent++) queue.send(request, post);
  t.equal(posted, 4096);
  new TraceQueue(queue.memory).received();
  queue.send(request, post);
  queue.send(request, post);
  t.equal(posted, 4097, 'one was read, one more may come');
});
