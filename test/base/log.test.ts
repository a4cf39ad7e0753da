import { spawnSync } from 'node:child_process';
import t from 'tap';
import { createLog, type LogSink } from '#acuity/base/log.js';

const KEY = `sk_live_${'a1B2'.repeat(8)}c3D4e5`;

function memorySink() {
  const lines: string[] = [];
  let flushes = 0;
  const sink: LogSink = {
    write: (line) => {
      lines.push(line);
    },
    flushSync: () => {
      flushes += 1;
    },
  };
  return { sink, lines, flushes: () => flushes };
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

t.test('nothing below the level is written', async (t) => {
  const { sink, lines } = memorySink();
  const log = createLog({ level: 'warn', sink });
  log.info('no');
  log.error('yes');
  t.equal(lines.length, 1);
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

t.test('whatever looks like an API key is taken out of any text, error and child line', async (t) => {
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

t.test('flush reaches the sink', async (t) => {
  const { sink, flushes } = memorySink();
  createLog({ level: 'info', sink }).flush();
  t.equal(flushes(), 1);
});

/** Runs a script in a process of its own, whose standard output is a pipe. */
function linesOf(script: string): string[] {
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', `import { createLog } from '#acuity/base/log.js';${script}`],
    { encoding: 'utf8', cwd: process.cwd() },
  );
  if (status !== 7) throw new Error(`exit code ${String(status)}: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}

t.test('after flush, leaving at once loses no line and keeps their order', async (t) => {
  const lines = linesOf(`
    const log = createLog({ level: 'info' });
    for (let i = 0; i < 2000; i++) log.info({ i });
    log.flush();
    process.exit(7);`);
  t.strictSame(
    lines.map((line) => (JSON.parse(line) as { i: number }).i),
    Array.from({ length: 2000 }, (_, i) => i),
  );
});

t.test('a burst beyond the buffer is dropped, counted and told', async (t) => {
  const lines = linesOf(`
    const log = createLog({ level: 'info' });
    const text = 'x'.repeat(1000);
    for (let i = 0; i < 3000; i++) log.info(text);
    setTimeout(() => process.exit(7), 500);`);
  const told = lines
    .map((line) => JSON.parse(line) as { msg: string; lines?: number })
    .filter(({ msg }) => msg === 'log lines dropped')
    .reduce((sum, { lines = 0 }) => sum + lines, 0);
  const written = lines.filter((line) => line.includes('xxx')).length;
  t.ok(told > 0);
  t.equal(written + told, 3000);
});
