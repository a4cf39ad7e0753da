import t from 'tap';
import { createLog, type LogSink } from '#acuity/base/process/log.js';

const KEY = `sk_live_${'a1B2'.repeat(8)}c3D4e5`;

function memorySink() {
  const lines: string[] = [];
  const sink: LogSink = { write: (line) => void lines.push(line) };
  return { sink, lines };
}

function lastOf(lines: readonly string[]): Record<string, unknown> {
  return JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown>;
}

t.test('a line is one JSON object with the level as a word and the time in ISO form', async (t) => {
  const { sink, lines } = memorySink();
  createLog({ level: 'info', name: 'http', sink }).warn({ status: 503 }, 'overloaded');
  t.ok(lines[0]?.endsWith('}\n'));
  t.match(lastOf(lines), { level: 'warn', name: 'http', status: 503, msg: 'overloaded' });
  t.match(lastOf(lines)['time'], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

t.test('headers, bodies and key fields are taken out', async (t) => {
  const { sink, lines } = memorySink();
  const log = createLog({ level: 'info', sink });
  const headers = { 'x-api-key': 'opaque', host: 'a' };
  log.info({
    key: 'opaque',
    apiKey: 'opaque',
    'x-api-key': 'opaque',
    headers,
    req: { headers, body: { HR_night: [61.0625] } },
    body: { HR_night: [61.0625] },
    current_session: { HR_night: [61.0625] },
    keyId: 'k1',
  });
  t.notMatch(lines[0], /opaque|HR_night|61\.0625/);
  t.equal(lastOf(lines)['keyId'], 'k1', 'what identifies the key without being it stays');
});

t.test('anything that looks like an API key is removed from texts, errors and child lines', async (t) => {
  const { sink, lines } = memorySink();
  const log = createLog({ level: 'info', sink });
  log.info(`refused ${KEY}, twice ${KEY}`);
  log.error({ err: new Error(`no such key: ${KEY}`) });
  log.child({ who: KEY }).info('hello');
  log.info({ deep: { er: [KEY] } });
  t.equal(lines.length, 4);
  for (const line of lines) {
    t.notMatch(line, KEY.slice(8));
    t.match(line, 'sk_live_[redacted]');
  }
});
