import t, { type Test } from 'tap';
import { LoopLag } from '#acuity/http/loopMetrics.js';
import type { PredictOptions } from '#acuity/http/door.js';
import { Connection, chunked, head, send, sendOn, type Reply, type Sent } from '../fixtures/connection.js';
import { GOOD_KEY, answer, openLoop, type TestLoop } from '../fixtures/loop.js';
import { until } from '../fixtures/until.js';

const BODY = '{"current_session":{}}';
const OVERLOADED = '{"detail":"Service overloaded"}';
const INTERNAL = '{"detail":"Internal Server Error"}';

function keyed(sent: Sent = {}): Sent {
  return { body: BODY, ...sent, headers: { 'X-API-Key': GOOD_KEY, ...sent.headers } };
}

function isOverloaded(t: Test, reply: Reply, status = 503, reason = 'Service Unavailable'): void {
  t.match(reply, { status, reason, body: OVERLOADED });
  t.equal(reply.headers.get('retry-after'), '7');
  t.equal(reply.headers.get('cache-control'), 'no-store');
  t.match(reply.headers.get('x-request-id'), /./);
}

/** Sends head and body of a request and nothing more: the answer is up to the test. */
async function post(t: Test, loop: TestLoop, more: Readonly<Record<string, string>> = {}) {
  const connection = await Connection.open(loop.port, t);
  const headers = { 'X-API-Key': GOOD_KEY, 'Content-Length': String(BODY.length), ...more };
  await connection.write(head({ headers }) + BODY);
  return connection;
}

/** The answer to a request that is scored, or ended by `end`. */
async function ended(t: Test, loop: TestLoop, end = answer): Promise<Reply> {
  const connection = await post(t, loop);
  end(await loop.scorer.next());
  return connection.reply();
}

t.test('an answer carries the scores, the timing and the model', async (t) => {
  const reply = await ended(t, openLoop(t));
  t.equal(reply.status, 200);
  t.equal(reply.headers.get('server-timing'), 'queue;dur=1, infer;dur=2');
  t.equal(reply.headers.get('x-model-version'), 'test-1');
  const scores = '{"C_SCORE":50,"attention":51,"memory":52,"reasoning":53,"stress":54,';
  t.equal(reply.body, `${scores}"valence":"High","arousal":"Low","inference_time_ms":2}`);
});

/** Ways of being overloaded; each holds at the head of a request and, but for the last, at its last byte. */
const OVERLOADS: Readonly<Record<string, (loop: TestLoop) => void>> = {
  'as many requests pending as may be': ({ scorer }) => void (scorer.pending = 10),
  'a scorer without room': ({ scorer }) => void (scorer.outcome = 'saturated'),
  draining: ({ predict }) => void (predict.isDraining = true),
  'a worker that hangs': ({ predict }) => void (predict.isHung = true),
  // A body that is whole has given its place among the bodies back.
  'bodies at their bound': ({ budget }) => void budget.take(1, 999_424 - budget.heldBytes),
};
const HEAD = head({ headers: { 'X-API-Key': GOOD_KEY, 'Content-Length': '22' } });

for (const [name, begin] of Object.entries(OVERLOADS)) {
  t.test(`refused at the head and at the last byte: ${name}`, async (t) => {
    const loop = openLoop(t);
    const late = await Connection.open(loop.port, t);
    await late.write(HEAD + BODY.slice(0, 5));
    await until(() => loop.budget.heldBytes > 0);
    begin(loop);
    const early = await Connection.open(loop.port, t);
    await early.write(name === 'a scorer without room' ? HEAD + BODY : HEAD); // it is asked at the last byte
    isOverloaded(t, await early.reply());
    if (name !== 'bodies at their bound') {
      await late.write(BODY.slice(5));
      isOverloaded(t, await late.reply());
    }
    t.equal(loop.scorer.waiting.length, 0);
  });
}

t.test('an event loop that is later than it may be refuses at the head', async (t) => {
  for (const [lateMs, isLate] of [
    [200, false],
    [1000, true],
  ] as const) {
    let nowMs = 0;
    const lag = new LoopLag({ monotonicMs: () => (nowMs += lateMs) });
    await until(() => lag.ms > 0);
    const loop = openLoop(t, { lag });
    const connection = await Connection.open(loop.port, t);
    await connection.write(isLate ? HEAD : HEAD + BODY);
    if (isLate) isOverloaded(t, await connection.reply());
    else await until(() => loop.scorer.waiting.length === 1);
  }
});

t.test('what is wrong with the head is told before the overload, not the body', async (t) => {
  const loop = openLoop(t, { bodyBytesMax: 100 });
  loop.predict.isHung = true;
  const statuses: number[] = [];
  for (const sent of [
    keyed({ target: '/other' }),
    keyed({ method: 'GET' }),
    { body: BODY },
    { headers: { 'X-API-Key': 'bad' }, body: BODY },
    keyed({ headers: { 'Content-Type': 'text/plain' } }),
    keyed({ headers: { 'Content-Encoding': 'gzip' } }),
    keyed({ body: ' '.repeat(101) }),
    keyed({ body: '{' }),
  ]) {
    statuses.push((await send(loop.port, sent)).status);
  }
  t.strictSame(statuses, [404, 405, 401, 403, 415, 415, 413, 503]);
});

t.test('a body that is refused unread costs by its declared length', async (t) => {
  const loop = openLoop(t, { bodyBytesMax: 300_000 });
  for (const [status, headers] of [
    [413, {}],
    [415, { 'Content-Type': 'text/plain' }],
  ] as const)
    t.equal((await send(loop.port, keyed({ headers, body: ' '.repeat(400_000) }))).status, status);
  t.strictSame(loop.spent, [6, 6]);
});

t.test('while draining, every answer ends its connection and says so once', async (t) => {
  const loop = openLoop(t);
  const connection = await post(t, loop);
  const waiting = await loop.scorer.next();
  loop.predict.isDraining = true;
  answer(waiting);
  const answered = await connection.reply();
  t.equal(answered.status, 200);
  t.equal(answered.headers.get('connection'), 'close');
  await connection.closed();
  for (const sent of [keyed(), keyed({ target: '/other' }), keyed({ method: 'PUT' }), { body: BODY }]) {
    const connection = await Connection.open(loop.port, t);
    t.equal((await sendOn(connection, sent)).headers.get('connection'), 'close');
    await connection.closed();
  }
  const toHead = await send(loop.port, { method: 'HEAD' });
  t.equal(toHead.headers.get('connection'), 'close');
});

t.test('a caller that asks to close its connection gets Connection: close', async (t) => {
  const loop = openLoop(t);
  for (const [asked, told] of [
    ['close', 'close'],
    ['Close', 'close'],
    ['TE, close', 'close'],
    ['keep-alive', undefined],
    ['TE', undefined],
  ] as const) {
    for (const sent of [{ body: BODY }, { target: '/other' }, { method: 'PUT' }]) {
      const connection = await Connection.open(loop.port, t);
      const reply = await sendOn(connection, { ...sent, headers: { Connection: asked } });
      t.equal(reply.headers.get('connection'), told, asked);
      if (told !== undefined) await connection.closed();
    }
  }
});

t.test('a bug answers 500, and is told to the operator alone, with the request id', async (t) => {
  const readBody: PredictOptions['readBody'] = () => {
    throw new Error('secret-marker');
  };
  const loop = openLoop(t, { readBody });
  const connection = await Connection.open(loop.port, t);
  for (const id of ['one', 'two']) {
    const reply = await sendOn(connection, keyed({ headers: { 'X-Request-Id': id } }));
    t.match(reply, { status: 500, body: INTERNAL });
  }
  t.match(loop.faults, [
    { error: { message: 'secret-marker' }, requestId: 'one' },
    { error: { message: 'secret-marker' }, requestId: 'two' },
  ]);
});

t.test('a request is answered once, also when more events follow', async (t) => {
  const loop = openLoop(t);
  const connection = await post(t, loop);
  const waiting = await loop.scorer.next();
  waiting.failed('expired');
  t.equal(waiting.isGone, true);
  answer(waiting);
  waiting.failed('fault');
  isOverloaded(t, await connection.reply());
  await connection.write(HEAD + BODY);
  answer(await loop.scorer.next());
  t.equal((await connection.reply()).status, 200);
  const fault = await ended(t, loop, (waiting) => waiting.failed('fault'));
  t.match(fault, { status: 500, reason: 'Internal Server Error', body: INTERNAL });
});

t.test('the day’s quota is refunded once for every status but 200', async (t) => {
  const loop = openLoop(t, { bodyBytesMax: 100 });
  const refused: readonly Sent[] = [
    keyed({ headers: { 'Content-Type': 'text/plain' } }),
    keyed({ body: ' '.repeat(101) }),
    keyed({ body: '{' }),
    keyed({ body: '[]' }),
  ];
  for (const [index, sent] of refused.entries()) {
    await send(loop.port, sent);
    t.equal(loop.refunds.length, index + 1);
  }
  await send(loop.port, { body: BODY });
  await send(loop.port, { headers: { 'X-API-Key': 'bad' } });
  t.equal(loop.refunds.length, refused.length);
  t.equal((await ended(t, loop)).status, 200);
  t.equal(loop.refunds.length, refused.length);
});

t.test('the log has status, key id, length and time of each request, and nothing of its body', async (t) => {
  const loop = openLoop(t);
  const body = '{"current_session":{"age":"secret-marker"}}';
  await send(loop.port, keyed({ body, headers: { 'X-Request-Id': 'mine', 'X-Other': 'secret-marker' } }));
  await send(loop.port, {
    target: '/secret-marker?secret-marker',
    headers: { 'X-API-Key': 'secret-marker' },
  });
  await ended(t, loop);
  t.match(loop.lines, [
    { level: 'warn', requestId: 'mine', status: 422, keyId: 'key_1', bytes: body.length, totalMs: Number },
    { level: 'warn', status: 404, bytes: 0, totalMs: Number },
    { level: 'info', status: 200, keyId: 'key_1', bytes: BODY.length, totalMs: Number },
  ]);
  t.notMatch(JSON.stringify(loop.lines), /secret-marker|good/);
});

t.test('no way of ending a body keeps a byte of the budget', async (t) => {
  const loop = openLoop(t, { bodyBytesMax: 100_000 });
  const { budget } = loop;
  const headers = { 'X-API-Key': GOOD_KEY };
  const declared = (length: number): string =>
    head({ headers: { ...headers, 'Content-Length': String(length) } });
  const streaming = head({ headers: { ...headers, 'Transfer-Encoding': 'chunked' } });
  const ways: readonly {
    readonly name: string;
    readonly pieces: readonly string[];
    readonly status?: number;
  }[] = [
    { name: 'whole', pieces: [`${declared(50_000)}{`, ' '.repeat(49_999)], status: 400 },
    { name: 'hung up', pieces: [declared(50_000), ' '.repeat(30_000)] },
    { name: 'chunked', pieces: [streaming, chunked(`{${' '.repeat(80_000)}`, 10_000)], status: 400 },
    { name: 'too large', pieces: [streaming, chunked(' '.repeat(200_000), 60_000)], status: 413 },
    {
      name: 'too large, hung up',
      pieces: [streaming, chunked(' '.repeat(200_000), 60_000).slice(0, 190_000)],
    },
    { name: 'one byte a time', pieces: [declared(22), ...BODY.replace('}', 'x')], status: 400 },
  ];
  for (const { name, pieces, status } of ways) {
    const connection = await Connection.open(loop.port, t);
    for (const piece of pieces) await connection.write(piece);
    if (status !== undefined) t.equal((await connection.reply()).status, status, name);
    connection.destroy();
    await until(() => budget.heldBytes === 0 && loop.server.connections === 0);
  }
});

t.test('the caller’s patience goes to the scorer where it is a number of milliseconds', async (t) => {
  const loop = openLoop(t);
  const cases: readonly (readonly [sent: string | undefined, ms: number])[] = [
    [undefined, Infinity],
    ['800', 800],
    ['600000', 600_000],
    ...['0', '-1', '600001', '1e3', '08', '5.5', 'soon', '', '9999999'].map(
      (text) => [text, Infinity] as const,
    ),
  ];
  for (const [text, ms] of cases) {
    const beforeMs = performance.now();
    const connection = await post(t, loop, text === undefined ? {} : { 'X-Deadline-Ms': text });
    const waiting = await loop.scorer.next();
    const leftMs = (waiting.expiresMs ?? NaN) - beforeMs;
    t.ok(ms === Infinity ? leftMs === Infinity : leftMs >= ms && leftMs < ms + 60_000, `${text}: ${leftMs}`);
    answer(waiting);
    await connection.reply();
  }
});

t.test('overload may be said with 429: the same body and Retry-After, no RateLimit', async (t) => {
  const loop = openLoop(t, { overloadStatus: 429 });
  loop.scorer.pending = 10;
  const reply = await send(loop.port, keyed());
  isOverloaded(t, reply, 429, 'Too Many Requests');
  t.equal(reply.headers.get('ratelimit'), undefined);
});

t.test('a body of the process itself is scored while callers fill no half a queue', async (t) => {
  const loop = openLoop(t);
  const { predict, scorer } = loop;
  const refused = { status: 503, body: OVERLOADED };
  scorer.pending = 5;
  t.strictSame(await predict.scoreOwn(Buffer.from(BODY), 5), refused);
  scorer.pending = 4;
  const scored = predict.scoreOwn(Buffer.from(BODY), 5);
  answer(await loop.scorer.next());
  t.strictSame(await scored, { status: 200, body: (await ended(t, loop)).body });
  t.equal(loop.lines.length, 1, 'only the request of the caller is logged');
  predict.drain();
  t.strictSame(await predict.scoreOwn(Buffer.from(BODY), 5), refused, 'while it drains');
});
