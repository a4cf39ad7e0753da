import t, { type Test } from 'tap';
import { PROBLEMS } from '#acuity/contract/problems.js';
import { Connection, head, send, type Reply } from '../../fixtures/connection.js';
import { GOOD_KEY, answer, openLoop, type TestLoop } from '../../fixtures/loop.js';
import { until } from '../../fixtures/until.js';

const LINE = '{"current_session":{}}';
const NDJSON = { 'X-API-Key': GOOD_KEY, 'Content-Type': 'application/x-ndjson' };
const { remedy: _, ...OVERLOADED_LINE } = PROBLEMS.overloaded;

function sendList({ port }: TestLoop, body: string, headers = {}): Promise<Reply> {
  return send(port, { headers: { ...NDJSON, ...headers }, body });
}

/** Sends a list; the answer is up to the test. */
async function post(t: Test, { port }: TestLoop, body: string, headers = {}): Promise<Connection> {
  const connection = await Connection.open(port, t);
  const length = { 'Content-Length': String(Buffer.byteLength(body)) };
  await connection.write(head({ headers: { ...NDJSON, ...length, ...headers } }) + body);
  return connection;
}

function linesOf({ body }: Reply): Record<string, unknown>[] {
  t.ok(body.endsWith('\n'), 'each line ends');
  return body
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function statusesOf(reply: Reply): unknown[] {
  return linesOf(reply).map(({ status }) => status ?? 200);
}

/** Nothing is held of any list, and so many predictions were given back. */
function isOver(t: Test, { scorer, budget, refunds }: TestLoop, given: number): void {
  t.strictSame([scorer.lines.reserved, budget.heldBytes, refunds.length], [0, 0, given]);
}

/** Answers lines as they come. */
function answerAll(t: Test, { scorer }: TestLoop): void {
  const timer = setInterval(() => {
    for (const lane of [scorer.lines, scorer.explainedLines])
      for (const line of lane.waiting.splice(0)) answer(line);
  }, 1);
  t.teardown(() => clearInterval(timer));
}

function bodyOf(...lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function times(count: number, line = LINE): string {
  return bodyOf(...Array.from({ length: count }, () => line));
}

t.test('each line has its answer, in the order of the lines, whichever is scored first', async (t) => {
  const loop = openLoop(t);
  const connection = await post(t, loop, bodyOf(LINE, '{', LINE, '{"current_session":{"age":-1}}', LINE));
  const { waiting } = loop.scorer.lines;
  await until(() => waiting.length === 3);
  for (const [index, line] of waiting.toReversed().entries()) answer(line, index);
  const reply = await connection.reply();
  t.equal(reply.status, 200);
  t.equal(reply.headers.get('content-type'), 'application/x-ndjson');
  t.equal(reply.headers.get('cache-control'), 'no-store');
  t.equal(reply.headers.get('x-model-version'), 'test-1');
  t.match(reply.headers.get('x-request-id'), /./);
  const age = [{ loc: ['body', 'current_session', 'age'] }];
  const malformed = { status: 400, detail: 'Malformed JSON at byte 1' };
  const [two, one, zero] = [2, 1, 0].map((C_SCORE) => ({ C_SCORE }));
  t.match(linesOf(reply), [two, malformed, one, { status: 422, detail: age }, zero]);
  t.equal(linesOf(reply).length, 5);
  isOver(t, loop, 2); // what was not scored does not count for the day
});

t.test('a list without a line, or with too many', async (t) => {
  const loop = openLoop(t);
  answerAll(t, loop);
  for (const body of ['', '\n', '\r\n\n']) {
    const reply = await sendList(loop, body);
    t.equal(reply.status, 422);
    t.equal(reply.headers.get('content-type'), 'application/json');
    t.match(JSON.parse(reply.body), { detail: [{ loc: ['body'], type: 'too_short' }] });
  }
  t.match(await tooLong(loop, times(1_001)), /\b1000\b/);
  loop.scorer.lines.linesMax = 7;
  t.match(await tooLong(loop, times(8)), /\b7\b/);
  t.equal((await sendList(loop, times(7))).status, 200);
  isOver(t, loop, 5); // the whole list gave back what its head had taken
});

/** The message of a list that is refused because it is too long. */
async function tooLong(loop: TestLoop, body: string): Promise<string> {
  const reply = await sendList(loop, body);
  t.equal(reply.status, 422);
  const { detail } = JSON.parse(reply.body) as { detail: { type: string; msg: string }[] };
  t.equal(detail[0]?.type, 'too_long');
  return detail[0]?.msg ?? '';
}

t.test('all lines are admitted or none', async (t) => {
  const loop = openLoop(t);
  loop.scorer.lines.outcome = 'saturated';
  const reply = await sendList(loop, times(3));
  t.equal(reply.status, 503);
  t.equal(reply.headers.get('retry-after'), '7');
  t.equal(loop.spent.length, 0, 'no token but the first');
  t.equal(loop.scorer.lines.waiting.length, 0);
  isOver(t, loop, 1);
});

/** `count` measurements, each wrong. */
const measuredBody = (count: number): string =>
  `{"current_session":{},"history":"","night":"2026-11-20","measurements":[${Array(count).fill('{}').join()}]}`;
const EXPLAINED_WRONG = '{"current_session":{"age":"34"},"explain":true}';
const LONG = `{"current_session":{},"x":"${'x'.repeat(200_000)}"}`;
const EXACT = `{"current_session":{},"current_session":{},"x":"${'x'.repeat(65_000)}"}`;

t.test('lines cost one token each, or one for each 64 KiB, and other work more', async (t) => {
  for (const [what, body, tokens] of [
    ['five lines', times(5), 4],
    ['a line of 200 KB, and a short one', bodyOf(LONG, LINE), 3],
    ['a run of 64 KiB of line ends', `${LINE}${'\n\r\n'.repeat(22_000)}`, 5],
    ['a body of 64 KiB for the exact path', EXACT, 10],
    ['16 measurements', measuredBody(16), 0],
    ['two lines of 64 measurements', bodyOf(measuredBody(64), measuredBody(64)), 7],
    ['too many lines that may ask for explanations', times(1_001, EXPLAINED_WRONG), 3],
    ['lines that had to be read, once', times(100, EXPLAINED_WRONG), 99],
  ] as const) {
    const loop = openLoop(t);
    answerAll(t, loop);
    await sendList(loop, body);
    const spent = loop.spent.reduce((sum, one) => sum + one, 0);
    t.equal(spent, tokens, what);
  }
});

t.test('a line waits no longer than the deadline, read or not', async (t) => {
  const loop = openLoop(t, { deadlineMs: 50 });
  const connection = await post(t, loop, bodyOf(LINE, LINE));
  const { lines } = loop.scorer;
  await until(() => lines.waiting.length === 2);
  lines.hasLineRoom = false;
  const unread = await post(t, loop, bodyOf(LINE, LINE, LINE));
  t.strictSame(linesOf(await unread.reply()), [OVERLOADED_LINE, OVERLOADED_LINE, OVERLOADED_LINE]);
  for (const line of lines.waiting) line.failed('expired');
  t.strictSame(linesOf(await connection.reply()), [OVERLOADED_LINE, OVERLOADED_LINE]);
  isOver(t, loop, 5);
});

t.test('a fault of one line is a 500 of that line', async (t) => {
  const loop = openLoop(t);
  const connection = await post(t, loop, times(3));
  const { waiting } = loop.scorer.lines;
  await until(() => waiting.length === 3);
  waiting.forEach((line, index) => (index === 1 ? line.failed('fault') : answer(line)));
  t.strictSame(statusesOf(await connection.reply()), [200, 500, 200]);
});

t.test('a caller that hangs up gets its places and its quota back', async (t) => {
  const loop = openLoop(t);
  const connection = await post(t, loop, times(5));
  const { lines } = loop.scorer;
  await until(() => lines.waiting.length === 5);
  lines.hasLineRoom = false;
  const unread = await post(t, loop, times(4));
  await until(() => lines.reserved === 4);
  connection.destroy();
  unread.destroy();
  await until(() => loop.refunds.length === 9);
  isOver(t, loop, 9);
  t.ok(lines.waiting.every(({ isGone }) => isGone));
  await loop.predict.listsEnded();
});

t.test('a list that the limits of its key refuse: 429, or what fits into the day', async (t) => {
  for (const limit of ['burst', 'daily'] as const) {
    let refunded = 0;
    let isSpent = false;
    const loop = openLoop(t, {
      rateLimiter: {
        admit: (key) => ({ outcome: 'admitted', key, day: 0 }),
        // Another request of the key takes what was left between the count and the charge.
        admitMore: ({ key }) => {
          isSpent = true;
          return { outcome: 'limited', key, limit, retryAfterS: 3, policy: 'p', state: 's' };
        },
        leftOfDay: () => (isSpent && limit === 'daily' ? 1 : Infinity),
        spend: () => undefined,
        refund: () => void refunded++,
      },
    });
    const reply = await sendList(loop, times(5));
    if (limit === 'burst') {
      t.strictSame([reply.status, reply.headers.get('retry-after')], [429, '3']);
      t.equal(refunded, 1, 'what its head had taken');
    } else t.match(reply, { status: 422, body: /at most 2 lines"/ });
    isOver(t, loop, limit === 'burst' ? 0 : 1);
  }
});

t.test('a list takes turns with others, and with other work of the loop', async (t) => {
  const loop = openLoop(t);
  const { lines } = loop.scorer;
  lines.hasLineRoom = false;
  const first = await post(t, loop, times(100));
  const second = await post(t, loop, times(100));
  await until(() => lines.reserved === 200);
  const seen: unknown[] = [];
  const admit = lines.admitLine.bind(lines);
  lines.admitLine = (request, line) => {
    seen.push(line.expiresMs);
    admit(request, line);
  };
  lines.hasLineRoom = true;
  lines.onLineRoom?.();
  await until(() => lines.waiting.length === 200);
  t.not(seen[0], seen[1]);
  t.equal(seen[0], seen[2]);
  for (const line of lines.waiting) answer(line);
  for (const connection of [first, second]) t.equal(linesOf(await connection.reply()).length, 100);
});
