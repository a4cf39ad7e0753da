import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { requestBody } from '../fixtures/bodies.js';
import { send } from '../fixtures/connection.js';
import { copyModel } from '../fixtures/model.js';
import { startServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';

/** What the whole process, native libraries included, asks of the system in the way of networks. */

const TRACE = ['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-s', '200', '-e', 'trace=network'];
const isMissing = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status !== 0;
const skip = isMissing && 'strace is not installed here, or may not trace (Debian: apt-get install strace)';

/** Calls that reach out, or name whom they send to. */
const REACHES_OUT = /\bconnect\(|sa_family=AF_INET6?, .*\) *= *\d+$/;
/** Listening, and being told who has connected. */
const SERVES = /\b(bind|accept4?|getsockname|getpeername)\(/;

/** The calls of a trace, a line each: one that another thread's came between stands in two. */
function callsIn(trace: string): readonly string[] {
  const begun = new Map<string, string>();
  return trace.split('\n').flatMap((line) => {
    const [, thread = '', start] = /^(\d+) +(.*) <unfinished \.\.\.>$/.exec(line) ?? [];
    if (start !== undefined) {
      begun.set(thread, line.slice(0, -' <unfinished ...>'.length));
      return [];
    }
    const [, resuming = '', end] = /^(\d+) +<\.\.\. \w+ resumed>(.*)$/.exec(line) ?? [];
    return [end === undefined ? line : `${begun.get(resuming) ?? `${resuming} `}${end}`];
  });
}

t.test('nothing leaves the process', { skip }, async (t) => {
  const folder = t.testdir();
  const trace = join(folder, 'trace');
  const server = await startServer(t, {
    under: [...TRACE, '-o', trace],
    env: { ACUITY_MODEL: copyModel(join(folder, 'model')), ...loopsOf(2) },
    keys: [{ kind: 'demo' }],
  });
  const ask = (key: string, body: string): Promise<{ readonly status: number }> =>
    send(server.port, { headers: { 'X-API-Key': key }, body });
  for (const { key } of server.keys) {
    for (const past of [0, 5]) t.equal((await ask(key, JSON.stringify(requestBody(past)))).status, 200);
  }
  t.equal((await ask('other', '{}')).status, 403);
  t.equal((await ask(server.key, '{')).status, 400);
  for (const target of ['/', '/metrics', '/readyz', '/openapi.json', '/docs']) {
    const { status } = await send(server.adminPort, { method: 'GET', target });
    t.equal(status, 200, target);
  }
  server.signal('SIGHUP');
  while (!server.output().includes('model in force')) await new Promise((resolve) => setTimeout(resolve, 20));
  server.signal('SIGTERM');
  t.strictSame(await server.exited, { code: 0, signal: null });
  const lines = callsIn(readFileSync(trace, 'utf8'));
  t.ok(
    lines.some((line) => /\bbind\(/.test(line)),
    'the trace shows what there is',
  );
  t.strictSame(
    lines.filter((line) => REACHES_OUT.test(line) && !SERVES.test(line)),
    [],
  );
  const bound = lines.filter((line) => /\bbind\(.*AF_INET/.test(line));
  for (const line of bound) t.match(line, 'inet_addr("127.0.0.1")');
});
