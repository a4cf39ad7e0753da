import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { requestBody } from '../fixtures/bodies.js';
import { copyModel } from '../fixtures/model.js';
import { lacking } from '../fixtures/scripts.js';
import { CLEAN, startServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';
import { until } from '../fixtures/until.js';

/** What the whole process, native libraries included, asks of the system in the way of networks. */

const TRACE = ['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-s', '200', '-e', 'trace=network'];
const why = 'strace is not installed here, or may not trace (Debian: apt-get install strace)';
const skip = lacking('strace -qq -o /dev/null true', why);

/** Calls that reach out, or name whom they send to. */
const REACHES_OUT = /\bconnect\(|sa_family=AF_INET/;
/** Listening, and being told who has connected; a call that another thread's came between stands in two lines. */
const SERVES = /\b(bind|accept4?|getsockname|getpeername)(\(| resumed>)/;

t.test('nothing leaves the process', { skip }, async (t) => {
  const folder = t.testdir();
  const trace = join(folder, 'trace');
  const server = await startServer(t, {
    under: [...TRACE, '-o', trace],
    env: { ACUITY_MODEL: copyModel(join(folder, 'model')), ...loopsOf(2) },
  });
  const ask = async (body: string, key?: string): Promise<number> => (await server.predict(body, key)).status;
  for (const past of [0, 5]) t.equal(await ask(JSON.stringify(requestBody(past))), 200);
  t.strictSame([await ask('{'), await ask('{}', 'other')], [400, 403]);
  for (const target of ['/', '/metrics', '/readyz', '/openapi.json', '/docs'])
    t.equal((await server.get(target)).status, 200, target);
  server.signal('SIGHUP');
  await until(() => server.output().includes('model in force'));
  t.strictSame(await server.stop(), CLEAN);
  const lines = readFileSync(trace, 'utf8').split('\n');
  const bound = lines.filter((line) => /\bbind\(.*AF_INET/.test(line));
  t.ok(bound.length > 0, 'the trace shows what there is');
  for (const line of bound) t.match(line, 'inet_addr("127.0.0.1")');
  const outward = lines.filter((line) => REACHES_OUT.test(line) && !SERVES.test(line));
  t.strictSame(outward, []);
});
