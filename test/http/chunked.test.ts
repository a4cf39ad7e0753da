import t from 'tap';
import { Connection, chunked, head, type RequestHead } from '../fixtures/connection.js';
import { GOOD_KEY, answer, openLoop, type TestLoop } from '../fixtures/loop.js';
import { until } from '../fixtures/until.js';

/**
 * After a chunked body nothing follows: every answer ends its connection and says so, and no byte after that body is
 * taken for a request.
 */

const BODY = '{"current_session":{}}';
const BODY_MAX = 100_000;
const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const KEYED = { ...CHUNKED, 'X-API-Key': GOOD_KEY };
/** Answered at once, wherever it is taken for a request. */
const NEXT = 'GET /other HTTP/1.1\r\nHost: test\r\n\r\n';
const TRAILERS = 'GET: /x HTTP/1.1\r\nHost: test\r\n\r\n';

interface Case {
  readonly name: string;
  readonly status: number;
  readonly head: RequestHead;
  readonly body?: string;
  begin?(loop: TestLoop): void;
  /** Lets a request be answered that is waiting for it. */
  settle?(loop: TestLoop): void;
}

const withKey: RequestHead = { headers: KEYED };
const CASES: readonly Case[] = [
  {
    name: 'scores',
    status: 200,
    head: withKey,
    settle: ({ scorer }) => scorer.waiting.forEach((one) => answer(one)),
  },
  { name: 'no key', status: 401, head: { headers: CHUNKED } },
  { name: 'another path, HEAD', status: 404, head: { headers: KEYED, target: '/other', method: 'HEAD' } },
  { name: 'too long a body', status: 413, head: withKey, body: BODY.padEnd(3 * BODY_MAX) },
  { name: 'just too long a body', status: 413, head: withKey, body: BODY.padEnd(BODY_MAX + 1) },
  { name: 'an empty body', status: 400, head: withKey, body: '' },
  {
    name: 'no room at the last byte',
    status: 503,
    head: withKey,
    begin: ({ scorer }) => void (scorer.outcome = 'saturated'),
  },
  {
    name: 'HEAD while draining',
    status: 405,
    head: { headers: KEYED, method: 'HEAD' },
    begin: ({ predict }) => predict.drain(),
  },
  {
    name: 'bodies at their bound on the way',
    status: 503,
    head: withKey,
    begin: ({ budget }) => void budget.take(1, 960_000),
    body: BODY.padEnd(90_000),
  },
  {
    name: 'a fault',
    status: 500,
    head: withKey,
    settle: ({ scorer }) => scorer.waiting.forEach((waiting) => waiting.failed('fault')),
  },
  {
    name: 'held back',
    status: 401,
    head: { headers: CHUNKED },
    begin: ({ predict }) => {
      while (predict.refusalThrottle.mayAnswer(0));
    },
  },
  {
    name: 'the caller says keep-alive',
    status: 401,
    head: { headers: { ...CHUNKED, Connection: 'keep-alive' } },
  },
];

/** Ways in which the head, the body and the bytes after it arrive. */
const ARRIVALS: readonly { readonly name: string; pieces(start: string, body: string): string[] }[] = [
  { name: 'in one packet', pieces: (start, body) => [start + body] },
  { name: 'the head alone', pieces: (start, body) => [start, body] },
  { name: 'the last chunk alone', pieces: (start, body) => [start + body.slice(0, -5), body.slice(-5)] },
];

/** Enough turns of the event loop for this process to read what it has sent itself. */
async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function write(connection: Connection, pieces: readonly string[]): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await turns();
    await connection.write(piece);
  }
}

for (const { name, status, head: given, body = BODY, begin, settle } of CASES) {
  const start = head(given);
  const text = chunked(body, 30_000);

  t.test(`${name}: ${status}, once, and the connection ends`, async (t) => {
    // Nothing, a request, or trailers that look like one come in one packet with the last chunk.
    for (const [rest, end] of [
      ['', text],
      [NEXT, text],
      [TRAILERS, text.slice(0, -2)],
    ] as const) {
      for (const arrival of ARRIVALS) {
        const loop = openLoop(t, { bodyBytesMax: BODY_MAX });
        begin?.(loop);
        const connection = await Connection.open(loop.port, t);
        await write(connection, arrival.pieces(start, end + rest));
        if (rest !== '') {
          const received = await connection.closed();
          const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, found]) => Number(found));
          t.ok(statuses.length === 0 || String(statuses) === String(status), `${arrival.name}: ${statuses}`);
          const told = loop.lines.filter((line) => line['status'] === 404);
          t.ok(told.length <= (status === 404 ? 1 : 0), arrival.name);
          continue;
        }
        if (settle !== undefined) {
          await until(() => loop.scorer.waiting.length > 0);
          settle(loop);
        }
        const reply = await connection.reply({ toHead: given.method === 'HEAD' });
        t.equal(reply.status, status, arrival.name);
        t.equal(reply.headers.get('connection'), 'close', arrival.name);
        t.match(reply.headers.get('content-length'), /^\d+$/, arrival.name);
        await connection.write(NEXT);
        t.equal(await connection.closed(), '', `${arrival.name}: one answer`);
      }
    }
  });
}

t.test('a refusal waits for the last chunk, however late that is, and pays for what came', async (t) => {
  const loop = openLoop(t, { bodyBytesMax: BODY_MAX });
  for (const headers of [CHUNKED, { ...KEYED, 'Content-Type': 'text/plain' }]) {
    const connection = await Connection.open(loop.port, t);
    const body = chunked(' '.repeat(300_000), 50_000);
    await write(connection, [head({ headers }), body.slice(0, 200_000), body.slice(200_000, -5)]);
    await turns(50);
    t.equal(connection.rest, '');
    await connection.write(body.slice(-5));
    t.match((await connection.reply()).status, /401|415/);
  }
  t.strictSame(
    loop.spent.reduce((sum, tokens) => sum + tokens, 0),
    4,
    'by the one with a key alone',
  );
});

t.test('more than 64 MiB of a body are not read', async (t) => {
  const loop = openLoop(t);
  const connection = await Connection.open(loop.port, t);
  const piece = `100000\r\n${' '.repeat(0x100000)}\r\n`;
  await connection.write(head({ headers: CHUNKED }));
  for (let sent = 0; sent < 70; sent++) await connection.write(piece);
  await connection.closed();
  t.match(loop.lines, [{ status: 401 }]);
});

t.test('a caller that hangs up during its refused body is counted as gone, once', async (t) => {
  const loop = openLoop(t);
  const connection = await Connection.open(loop.port, t);
  await connection.write(`${head({ headers: { ...KEYED, 'Content-Type': 'text/plain' } })}16\r\n${BODY}\r\n`);
  await until(() => loop.server.connections === 1);
  connection.destroy();
  await until(() => loop.server.connections === 0);
  t.equal(loop.refunds.length, 1, 'its day’s quota is given back');
});
