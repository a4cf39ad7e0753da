import { mock } from 'node:test';
import t from 'tap';
import { createLog } from '#acuity/base/process/log.js';
import { KEY } from '../fixtures/loop.js';
import { AccessLog, lineOf, type AccessLine } from '#acuity/http/accessLog.js';

const RECORD = {
  requestId: 'r-1',
  traceparent: '',
  startedMs: 1,
  receivedMs: 2,
  bodyBytes: 42,
  caller: { outcome: 'admitted', key: KEY, day: 0 },
} as const;
const LINE = lineOf(RECORD, 200, 2.23456);
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** What is told, of one in `every` scored requests. */
function collecting(every = 1) {
  const told: Record<string, unknown>[] = [];
  const write = (line: string): void => void told.push(JSON.parse(line) as Record<string, unknown>);
  return { access: new AccessLog(createLog({ level: 'info', sink: { write } }), every), told };
}

function written(line: AccessLine): Record<string, unknown> {
  const { access, told } = collecting();
  if (line.status === 200) access.served(line);
  else access.refused(line.status === 422 ? 'unprocessable' : 'queueFull', line, 0);
  return told[0] ?? {};
}

t.test('a line has id, status, key id, time and bytes; the level follows the status', async (t) => {
  const scored = { requestId: 'r-1', status: 200, keyId: 'key_1', totalMs: 1.235, bytes: 42 };
  t.match(written(LINE), { level: 'info', ...scored });
  t.match(written({ ...LINE, status: 422 }), { level: 'warn', cause: 'unprocessable', requests: 1 });
  t.match(written({ ...LINE, status: 503 }), { level: 'error', cause: 'queueFull', requests: 1 });
});

t.test('a well formed trace context is carried on, anything else is dropped', async (t) => {
  const carried = (traceparent: string) => written(lineOf({ ...RECORD, traceparent }, 200, 2));
  t.equal(carried(TRACEPARENT)['traceparent'], TRACEPARENT);
  for (const traceparent of ['', 'sk_live_x', TRACEPARENT.toUpperCase(), `${TRACEPARENT}-x`, '72,71,70'])
    t.notOk('traceparent' in carried(traceparent), traceparent);
});

t.test('one in so many scored requests has a line, with 0 none', async (t) => {
  const wants = (every: number): string => {
    const { access } = collecting(every);
    return Array.from({ length: 6 }, () => Number(access.wantsServed())).join('');
  };
  t.strictSame([wants(3), wants(0)], ['001001', '000000']);
});

t.test('refusals of one cause share a line a second, with their number', async (t) => {
  const { access, told } = collecting(0);
  for (let request = 0; request < 1000; request++)
    access.refused('queueFull', { ...LINE, requestId: `r-${request}`, status: 503 }, request / 10);
  access.refused('keyInvalid', { ...LINE, requestId: 'other', status: 403 }, 100);
  t.match(told, [
    { cause: 'queueFull', requests: 1, requestId: 'r-0' },
    { cause: 'keyInvalid', requests: 1, requestId: 'other' },
  ]);
  access.flush(1100);
  t.match(told.slice(2), [{ cause: 'queueFull', requests: 999, requestId: 'r-999' }]);
  access.flush(1100);
  t.equal(told.length, 3, 'told once');
  access.refused('queueFull', { ...LINE, status: 503 }, 1200);
  t.equal(told.length, 3, 'the next one waits: the last line is not a second old');
  access.flush(2200);
  t.match(told.slice(3), [{ cause: 'queueFull', requests: 1 }]);
});

t.test('each cause has a second of its own', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const { access, told } = collecting(0);
  const refuse = (cause: 'queueFull' | 'loopLag', nowMs: number): void => {
    for (let twice = 0; twice < 2; twice++) access.refused(cause, { ...LINE, status: 503 }, nowMs);
  };
  refuse('queueFull', 0);
  mock.timers.tick(950);
  refuse('loopLag', 950);
  mock.timers.tick(50);
  t.strictSame(
    told.map(({ cause }) => cause),
    ['queueFull', 'loopLag', 'queueFull'],
  );
  mock.timers.tick(950);
  t.equal(told.length, 4);
});

t.test('each internal error has a line of its own', async (t) => {
  const { access, told } = collecting();
  for (const requestId of ['r-0', 'r-1']) access.refused('internal', { ...LINE, requestId, status: 500 }, 0);
  const ids = told.map((line) => line['requestId']);
  t.strictSame(ids, ['r-0', 'r-1']);
});
