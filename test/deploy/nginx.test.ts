import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Connection, chunked, head } from '../fixtures/connection.js';
import { WITHOUT_NGINX, startNginx } from '../fixtures/plainProxies.js';
import { startRecordingService } from '../fixtures/recordingService.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { freePort } from '../fixtures/server.js';

/** The configuration of nginx in docs/OPERATIONS.md. */

const BODY = '{"current_session":{}}';

/** The block of the document, with these ports and without TLS. */
function documented(port: number, servicePort: number): { outside: string; server: string } {
  const document = readFileSync(join(REPOSITORY, 'docs/OPERATIONS.md'), 'utf8');
  const [, text = ''] = /```nginx\n([\s\S]*?)```/.exec(document) ?? [];
  const local = text
    .replace('127.0.0.1:8080', `127.0.0.1:${servicePort}`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port}`);
  const [outside = '', server = ''] = local.split('server {');
  return { outside, server: server.slice(0, server.lastIndexOf('}')) };
}

t.test(
  'a body in chunks reaches the service with its length, and without trailers',
  { skip: WITHOUT_NGINX },
  async (t) => {
    const service = await startRecordingService(t);
    const port = await freePort();
    await startNginx(t, port, documented(port, service.port));
    const connection = await Connection.open(port);
    t.teardown(() => connection.destroy());
    for (const trailers of ['GET: /x HTTP/1.1\r\nHost: a\r\n\r\n', '\r\n']) {
      const start = head({ headers: { 'Transfer-Encoding': 'chunked' } });
      await connection.write(start + chunked(BODY, 10).slice(0, -2) + trailers);
      t.equal((await connection.reply()).status, 200);
    }
    const came = service.connections.join('');
    t.match(came, `Content-Length: ${BODY.length}`);
    t.notMatch(came, /transfer-encoding/i);
    t.notMatch(came, 'GET');
    t.ok(came.endsWith(BODY));
  },
);

t.test('bytes beyond ASCII around a value are refused', { skip: WITHOUT_NGINX }, async (t) => {
  const service = await startRecordingService(t);
  const port = await freePort();
  await startNginx(t, port, documented(port, service.port));
  const length = `Content-Length: ${BODY.length}`;
  for (const [lines, body, status] of [
    [['X-API-Key: k', length], BODY, 200],
    [['X-API-Key: \u0085k', length], BODY, 403],
    [['X-API-Key: k\u00ff', length], BODY, 403],
    [[`${length}\u00ff`], BODY, 400],
    [['Content-Length: \u008522'], BODY, 400],
    [['Transfer-Encoding: \u0085chunked'], chunked(BODY, 10), 501],
    [['Transfer-Encoding: chunked\u00ff'], chunked(BODY, 10), 501],
  ] as const) {
    const connection = await Connection.open(port);
    const text = `POST /predict HTTP/1.1\r\nHost: test\r\nConnection: close\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
    await connection.write(Buffer.from(text, 'latin1'));
    t.match(await connection.closed(), new RegExp(`^HTTP/1\\.1 ${status} `), JSON.stringify(lines));
  }
});
