import { STATUS_CODES } from 'node:http';
import t, { type Test } from 'tap';
import { statusOf, type PlainCause, type RefusalCause } from '#acuity/contract/metrics.js';
import { malformedBody, problemAnswer } from '#acuity/contract/problems.js';
import type { PredictOptions } from '#acuity/http/door.js';
import { Connection, chunked, head, type RequestHead } from '../fixtures/connection.js';
import { GOOD_KEY, answer, openLoop, type TestLoop } from '../fixtures/loop.js';
import { until } from '../fixtures/until.js';

/**
 * Every way in which a request ends, whole or in chunks, in few packets or many: once, with the text of the catalogue,
 * one line of the log, its price, its quota and its memory given back, and nothing of the request told.
 */

const BODY = '{"current_session":{}}';
const BODY_MAX = 100_000;

interface Row {
  readonly name: string;
  /** Undefined if it is scored. */
  readonly cause?: RefusalCause;
  readonly head?: RequestHead;
  readonly body?: string;
  /** Beyond the token of the head, with a declared length. */
  readonly tokens?: number;
  readonly options?: Partial<PredictOptions>;
  /** The state in which its head is read. */
  begin?(loop: TestLoop): void;
  /** Whether the state, if it begins with the last byte of the body alone, has the same end. */
  readonly isLate?: boolean;
  /** Whether it comes in chunks alone. */
  readonly isOfChunks?: boolean;
  /** Ends a request that waits for its scores. */
  settle?(loop: TestLoop): void;
}

const hang = ({ predict }: TestLoop): void => predict.hang();
const drain = ({ predict }: TestLoop): void => predict.drain();
const score = ({ scorer }: TestLoop): void => scorer.waiting.forEach((one) => answer(one));
const KEYED = { 'X-API-Key': GOOD_KEY };
const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const withType = (type: string): RequestHead => ({ headers: { ...KEYED, 'Content-Type': type } });

/** What is wrong with a head is told before the overload, which is told before what is wrong with a body. */
const ROWS: readonly Row[] = [
  { name: 'scored', settle: score },
  { name: 'scored while it drains', begin: () => undefined, settle: (loop) => (drain(loop), score(loop)) },
  { name: 'another path', cause: 'notFound', head: { target: '/secret-marker?secret-marker' }, begin: hang },
  { name: 'another path, draining', cause: 'notFound', head: { target: '/other' }, begin: drain },
  { name: 'another path, HEAD', cause: 'notFound', head: { target: '/other', method: 'HEAD' } },
  { name: 'another method', cause: 'methodNotAllowed', head: { method: 'PUT' }, begin: hang },
  { name: 'HEAD while draining', cause: 'methodNotAllowed', head: { method: 'HEAD' }, begin: drain },
  { name: 'no key', cause: 'keyMissing', head: { headers: {} }, begin: hang },
  { name: 'no key, draining', cause: 'keyMissing', head: { headers: {} }, begin: drain },
  {
    name: 'no key, held back',
    cause: 'keyMissing',
    head: { headers: {} },
    begin: ({ predict }) => {
      while (predict.refusalThrottle.mayAnswer(0));
    },
  },
  {
    name: 'another key',
    cause: 'keyInvalid',
    head: { headers: { 'X-API-Key': 'secret-marker' } },
    begin: hang,
  },
  { name: 'another type', cause: 'contentType', head: withType('text/plain'), begin: hang },
  {
    name: 'a long body of it',
    cause: 'contentType',
    head: withType('a/b'),
    body: BODY.padEnd(400_000),
    tokens: 6,
  },
  {
    name: 'a body that is packed',
    cause: 'contentEncoding',
    head: { headers: { ...KEYED, 'Content-Encoding': 'gzip' } },
    begin: hang,
  },
  { name: 'too long a body', cause: 'bodyTooLarge', body: BODY.padEnd(400_000), tokens: 6 },
  { name: 'just too long a body', cause: 'bodyTooLarge', body: BODY.padEnd(BODY_MAX + 1), tokens: 1 },
  { name: 'an empty body', cause: 'malformed', body: '' },
  { name: 'a body that is no JSON', cause: 'malformed', body: '{', tokens: 0 },
  { name: 'a wrong field', cause: 'unprocessable', body: '{"current_session":{"age":"secret-marker"}}' },
  {
    name: 'no table to explain it by',
    cause: 'unprocessable',
    body: '{"current_session":{},"explain":true}',
  },
  {
    name: 'as many pending as may be',
    cause: 'queueFull',
    begin: ({ scorer }) => (scorer.pending = 10),
    isLate: true,
  },
  {
    name: 'a scorer without room',
    cause: 'queueFull',
    begin: ({ scorer }) => (scorer.outcome = 'saturated'),
    isLate: true,
  },
  {
    name: 'as a 429',
    cause: 'queueFull',
    options: { overloadStatus: 429 },
    begin: ({ scorer }) => (scorer.pending = 10),
  },
  { name: 'draining', cause: 'draining', body: '{ ', begin: drain, isLate: true },
  { name: 'a worker that hangs', cause: 'hung', body: '{ ', begin: hang, isLate: true },
  {
    name: 'bodies at their bound on the way',
    cause: 'bodiesFull',
    body: BODY.padEnd(90_000),
    isOfChunks: true,
    begin: ({ budget }) => void budget.take(1, 960_512),
  },
  { name: 'a loop that is late', cause: 'loopLag', options: { lag: { ms: 251 } } },
  { name: 'a loop that is just not too late', options: { lag: { ms: 250 } }, settle: score },
  {
    name: 'a fault',
    cause: 'internal',
    settle: ({ scorer }) => scorer.waiting.forEach((one) => one.failed('fault')),
  },
  {
    name: 'too late',
    cause: 'deadline',
    settle: ({ scorer }) => scorer.waiting.forEach((one) => one.failed('expired')),
  },
];

/** Answered at once, wherever it is taken for a request. */
const NEXT = 'GET /other HTTP/1.1\r\nHost: test\r\n\r\n';
const TRAILERS = 'GET: /x HTTP/1.1\r\nHost: test\r\n\r\n';

/** Ways in which head and body arrive. */
const ARRIVALS: Readonly<Record<string, (start: string, body: string) => readonly string[]>> = {
  'in one packet': (start, body) => [start + body],
  'the head alone': (start, body) => [start, body],
  'the last bytes alone': (start, body) => [start + body.slice(0, -5), body.slice(-5)],
};

/** Enough turns of the event loop for this process to read what it has sent itself. */
async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function write(connection: Connection, pieces: readonly string[]): Promise<void> {
  for (const [index, piece] of pieces.filter((one) => one !== '').entries()) {
    if (index > 0) await turns();
    await connection.write(piece);
  }
}

/** The text that the catalogue has; of a body, what it begins with. */
function textOf(cause: RefusalCause, status: number, body: string): string {
  if (cause === 'malformed') return malformedBody(body.length === 0 ? 0 : body.trimEnd().length);
  if (cause === 'unprocessable') return '{"detail":[{"loc":["body",';
  if (status === 429) return problemAnswer('overloadedAs429').body;
  return problemAnswer(status === 503 ? 'overloaded' : (cause as PlainCause)).body;
}

/** One request of `row`, to its end; by another name than those of `ARRIVALS` the state begins before its last byte. */
async function ends(t: Test, row: Row, isChunked: boolean, arrival: string): Promise<void> {
  const { cause, body = BODY, begin, settle, tokens = 0 } = row;
  const loop = openLoop(t, { bodyBytesMax: BODY_MAX, ...row.options });
  const { headers = KEYED, ...rest } = row.head ?? {};
  const toHead = rest.method === 'HEAD';
  const length: Record<string, string> = toHead ? {} : { 'Content-Length': String(body.length) };
  const framing = isChunked ? CHUNKED : length;
  const start = head({ ...rest, headers: { 'X-Other': 'secret-marker', ...headers, ...framing } });
  const text = isChunked ? chunked(body, 30_000) : toHead ? '' : body;
  const connection = await Connection.open(loop.port, t);
  const what = `${row.name}, ${isChunked ? 'chunked' : 'declared'}, ${arrival}`;
  const pieces = ARRIVALS[arrival];
  if (pieces === undefined) {
    await connection.write(start + text.slice(0, -1));
    await until(() => loop.budget.heldBytes > 0);
  }
  begin?.(loop);
  await write(connection, pieces?.(start, text) ?? [text.slice(-1)]);
  if (settle !== undefined) {
    await until(() => loop.scorer.waiting.length > 0);
    settle(loop);
  }
  const reply = await connection.reply({ toHead });
  const status = cause === undefined ? 200 : (row.options?.overloadStatus ?? statusOf(cause));
  t.match(reply, { status, reason: STATUS_CODES[status] }, what);
  if (cause !== undefined && !toHead)
    t.equal(reply.body.slice(0, textOf(cause, status, body).length), textOf(cause, status, body));
  t.equal(reply.headers.get('retry-after'), status === 503 || status === 429 ? '7' : undefined, what);
  t.equal(reply.headers.get('ratelimit'), undefined);
  t.equal(reply.headers.get('cache-control'), 'no-store');
  const closes = isChunked || loop.predict.isDraining;
  t.equal(reply.headers.get('connection'), closes ? 'close' : undefined, what);
  t.match(reply.headers.get('content-length'), /^\d+$/, what);
  await connection.write(NEXT);
  if (closes) t.equal(await connection.closed(), '', `${what}: one answer`);
  else t.equal((await connection.reply()).status, 404, `${what}: the next request is answered`);
  const [line, ...others] = loop.lines;
  const isKnown =
    'X-API-Key' in headers && headers['X-API-Key'] === GOOD_KEY && !/^(not|method)/.test(cause ?? '');
  t.match(line, { status, totalMs: Number, ...(cause && { cause }) }, what);
  t.equal(line?.['keyId'], isKnown ? 'key_1' : undefined, what);
  t.ok(others.length === 0 || !closes, what);
  t.notMatch(JSON.stringify(loop.lines), /secret-marker|good/);
  t.equal(loop.refunds.length, isKnown && status !== 200 ? 1 : 0, `${what}: its day’s quota`);
  const spent = loop.spent.reduce((sum, one) => sum + one, 0);
  if (!isChunked) t.equal(spent, tokens, `${what}: its price`);
  t.equal((loop.budget.heldBytes % 999_424) % 960_512, 0, `${what}: nothing of it is held`);
}

for (const row of ROWS) {
  t.test(`${row.name}: ${row.cause ?? 200}`, async (t) => {
    for (const isChunked of row.isOfChunks ? [true] : [false, true])
      for (const arrival of Object.keys(ARRIVALS)) await ends(t, row, isChunked, arrival);
    if (row.isLate) await ends(t, row, false, 'the last byte late');
  });
}

t.test('after a chunked body nothing is taken for a request', async (t) => {
  const start = head({ headers: { ...KEYED, ...CHUNKED } });
  const text = chunked('{', 10);
  for (const end of [text + NEXT, text.slice(0, -2) + TRAILERS])
    for (const [name, pieces] of Object.entries(ARRIVALS)) {
      const loop = openLoop(t);
      const connection = await Connection.open(loop.port, t);
      await write(connection, pieces(start, end));
      const answers = (await connection.closed()).matchAll(/HTTP\/1\.1 (\d{3}) /g);
      const statuses = [...answers].map(([, status]) => status);
      t.ok(statuses.length === 0 || String(statuses) === '400', `${name}: ${statuses}`);
      for (const line of loop.lines) t.not(line['status'], 404, name);
    }
});

t.test('a refusal waits for the last chunk, however late that is, and pays for what came', async (t) => {
  const loop = openLoop(t, { bodyBytesMax: BODY_MAX });
  for (const headers of [CHUNKED, { ...KEYED, ...CHUNKED, 'Content-Type': 'text/plain' }]) {
    const connection = await Connection.open(loop.port, t);
    const body = chunked(' '.repeat(300_000), 50_000);
    await write(connection, [head({ headers }), body.slice(0, 200_000), body.slice(200_000, -5)]);
    await turns(50);
    t.equal(connection.rest, '');
    await connection.write(body.slice(-5));
    t.match((await connection.reply()).status, /401|415/);
  }
  const spent = loop.spent.reduce((sum, tokens) => sum + tokens, 0);
  t.equal(spent, 4, 'by the one with a key alone');
});

t.test('while bodies hold all their memory, only one that needs some of it is refused', async (t) => {
  const loop = openLoop(t);
  loop.budget.take(1, 999_424);
  const start = head({ headers: { ...KEYED, 'Content-Length': String(BODY.length) } });
  for (const [name, pieces] of Object.entries(ARRIVALS)) {
    const connection = await Connection.open(loop.port, t);
    await write(connection, pieces(start, BODY));
    if (name !== 'the last bytes alone') answer(await loop.scorer.next());
    t.equal((await connection.reply()).status, name === 'the last bytes alone' ? 503 : 200, name);
  }
  t.match(loop.lines.map(({ cause }) => cause).filter(Boolean), ['bodiesFull']);
});

const ALL_SIZES = [1_024, 4_096, 16_384, 65_536];

t.test('an honest body in chunks of any usual size is answered, and costs by its length', async (t) => {
  const loop = openLoop(t, { bodyBytesMax: BODY_MAX });
  for (const bytes of ALL_SIZES) {
    const connection = await Connection.open(loop.port, t);
    const body = ' '.repeat(1_000_000);
    await connection.write(head({ headers: CHUNKED }) + chunked(body, bytes));
    t.equal((await connection.reply()).status, 401, `without a key, by ${bytes}`);
  }
  for (const bytes of ALL_SIZES) {
    loop.spent.length = 0;
    const connection = await Connection.open(loop.port, t);
    await connection.write(head({ headers: { ...KEYED, ...CHUNKED } }) + chunked(' '.repeat(90_000), bytes));
    t.equal((await connection.reply()).status, 400);
    const spent = loop.spent.reduce((sum, tokens) => sum + tokens, 0);
    t.equal(spent, 14, `by ${bytes}`);
  }
});

t.test('a body in chunks of a byte costs by its chunks', async (t) => {
  const loop = openLoop(t);
  const connection = await Connection.open(loop.port, t);
  const text = chunked(BODY.padEnd(10_239), 1); // and the last one, which is empty
  await connection.write(head({ headers: { ...KEYED, ...CHUNKED } }) + text);
  answer(await loop.scorer.next());
  t.equal((await connection.reply()).status, 200);
  t.equal(
    loop.spent.reduce((sum, tokens) => sum + tokens, 0),
    39,
  );
});

t.test('a body in too many pieces ends its connection before it is whole', async (t) => {
  const loop = openLoop(t);
  const sent = async (headers: Record<string, string>, pieces: number, target = '/predict') => {
    const connection = await Connection.open(loop.port, t);
    await connection.write(head({ target, headers: { ...headers, ...CHUNKED } }));
    const text = chunked(' '.repeat(pieces), 1);
    await connection.write(text.slice(0, -5));
    return connection;
  };
  for (const [headers, target] of [[{}], [{ 'X-API-Key': 'another' }], [KEYED, '/other']] as const) {
    const few = await sent(headers, 1_000, target);
    await few.write('0\r\n\r\n');
    t.match((await few.reply()).status, /401|403|404/);
    t.equal(await (await sent(headers, 2_000, target)).closed(), '');
  }
  t.equal(await (await sent(KEYED, 70_000)).closed(), '', 'even if a key pays');
  t.equal(
    loop.spent.reduce((sum, tokens) => sum + tokens, 0),
    256,
  );
  t.equal(loop.budget.heldBytes, 0);
  t.equal(loop.refunds.length, 1, 'its day’s quota is given back');
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
  const headers = { ...KEYED, ...CHUNKED, 'Content-Type': 'text/plain' };
  await connection.write(`${head({ headers })}16\r\n${BODY}\r\n`);
  await until(() => loop.server.connections === 1);
  connection.destroy();
  await until(() => loop.server.connections === 0);
  t.equal(loop.refunds.length, 1, 'its day’s quota is given back');
});
