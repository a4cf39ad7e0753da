import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/** Callers with what Node brings: `node.js LIBRARY PORT WAY FILE…`. See test/flow/foreignClients.test.ts. */

const [library, port, way = '', ...paths] = process.argv.slice(2);
const url = `http://127.0.0.1:${port}/predict`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** The body in four pieces with pauses; one that is cut ends in the middle, with an error. */
async function* pieces(body: Buffer): AsyncGenerator<Uint8Array> {
  const size = Math.ceil(body.length / 4);
  for (let start = 0; start < body.length; start += size) {
    await pause(5);
    if (way === 'cut' && start >= body.length / 2) throw new Error('dropped in the middle');
    yield body.subarray(start, start + size);
  }
}

const headers = (length: number): Record<string, string> => ({
  'X-API-Key': process.env['ACUITY_API_KEY'] ?? '',
  'Content-Type': 'application/json',
  ...(library === 'http' && way !== 'chunked' && { 'Content-Length': String(length) }),
  ...(way === 'continued' && { Expect: '100-continue' }),
});

async function byHttp(body: Buffer): Promise<string> {
  const call = request(url, { method: 'POST', agent, headers: headers(body.length) });
  const answered = once(call, 'response') as Promise<[IncomingMessage]>;
  if (way === 'continued') {
    call.flushHeaders();
    await once(call, 'continue');
  }
  if (way === 'plain' || way === 'continued') call.end(body);
  else
    Readable.from(pieces(body))
      .once('error', (error) => call.destroy(error))
      .pipe(call);
  const [response] = await answered;
  return `${response.statusCode} ${await text(response)}`;
}

async function byFetch(body: Buffer): Promise<string> {
  const content = way === 'plain' ? new Uint8Array(body) : Readable.toWeb(Readable.from(pieces(body)));
  const options = { method: 'POST', headers: headers(body.length), body: content, duplex: 'half' };
  const response = await fetch(url, options as RequestInit);
  return `${response.status} ${await response.text()}`;
}

const send = library === 'http' ? byHttp : byFetch;
for (const path of [...paths, ...paths]) {
  const sending = send(readFileSync(path));
  if (way === 'cut') await sending.catch(() => undefined);
  else process.stdout.write(`${await sending}\n`);
}
agent.destroy();
