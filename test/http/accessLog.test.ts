import t from 'tap';
import { createLog } from '#acuity/base/log.js';
import { AccessLog, type AccessLine } from '#acuity/http/accessLog.js';

const LINE: AccessLine = {
  requestId: 'r-1',
  status: 200,
  keyId: 'key_1',
  totalMs: 1.23456,
  bytes: 42,
  traceparent: '',
};
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

function written(line: AccessLine): Record<string, unknown> {
  let text = '';
  const log = createLog({
    level: 'info',
    sink: { write: (piece) => (text += piece) },
  });
  new AccessLog(log, 1).write(line);
  return JSON.parse(text) as Record<string, unknown>;
}

t.test('a line tells id, status, key id, time and bytes; the level follows the status', (t) => {
  t.match(written(LINE), {
    level: 'info',
    requestId: 'r-1',
    status: 200,
    keyId: 'key_1',
    totalMs: 1.235,
    bytes: 42,
  });
  t.match(written({ ...LINE, status: 422 }), { level: 'warn' });
  t.match(written({ ...LINE, status: 503 }), { level: 'error' });
  t.end();
});

t.test('a well formed trace context is carried on, anything else is dropped', (t) => {
  t.equal(written({ ...LINE, traceparent: TRACEPARENT })['traceparent'], TRACEPARENT);
  for (const traceparent of ['', 'sk_live_x', TRACEPARENT.toUpperCase(), `${TRACEPARENT}-x`, '72,71,70']) {
    t.notOk('traceparent' in written({ ...LINE, traceparent }), traceparent);
  }
  t.end();
});

t.test('one in so many scored requests has a line, with 0 none', (t) => {
  const log = createLog({ level: 'silent' });
  const third = new AccessLog(log, 3);
  t.same(
    Array.from({ length: 6 }, () => third.wantsServed()),
    [false, false, true, false, false, true],
  );
  const none = new AccessLog(log, 0);
  t.notOk(Array.from({ length: 6 }, () => none.wantsServed()).includes(true));
  t.end();
});
