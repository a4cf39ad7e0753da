import t from 'tap';
import { Connection, exchange, head } from '../fixtures/connection.js';
import { OUTCOMES, rawCases, sendCase, type RawCase } from '../fixtures/rawCases.js';
import { startServer } from '../fixtures/server.js';
import { until } from '../fixtures/until.js';

/**
 * What the HTTP library makes of odd bytes, pinned: `docs/HTTP-EDGES.md` promises this and no more. Where a case comes
 * out otherwise with another version of the library, the document is what to change, once it is
 * clear that a proxy in front still reads the same requests as we do.
 */

/** The library's time-outs come after 8 to 12 s; an end before this was meant. */
const AT_ONCE_MS = 5_000;
const NEXT_ID = 'the-next-request';
const BODY = '{"current_session":{}}';
/** The ABI of Node 20. The library's builds for newer ones are newer themselves. */
const OLDER_ABI = 115;
const isOlder = Number(process.versions.modules) <= OLDER_ABI;
const expectedOutcome = ({ outcome, newerOutcome }: RawCase): string => (isOlder ? outcome : newerOutcome);

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const NEXT = { 'X-API-Key': server.key, 'X-Request-Id': NEXT_ID, 'Content-Length': String(BODY.length) };

/** How the connection serves one more request. */
async function afterwards(connection: Connection): Promise<'open' | 'spoiled' | 'closed'> {
  const startedMs = Date.now();
  await connection.write(head({ headers: NEXT }) + BODY);
  const next = await connection.replyOrEnd();
  if (next === undefined) return Date.now() - startedMs < AT_ONCE_MS ? 'closed' : 'spoiled';
  return next.status === 200 && next.headers.get('x-request-id') === NEXT_ID ? 'open' : 'spoiled';
}

/** What a case comes to, in the words of the table. */
async function outcomeOf(connection: Connection, rawCase: RawCase): Promise<string> {
  const startedMs = Date.now();
  await sendCase(connection, rawCase);
  const statuses: number[] = [];
  const answers = expectedOutcome(rawCase).match(/\d+/g)?.length ?? 1;
  while (statuses.length < answers) {
    const reply = await connection.replyOrEnd();
    if (reply === undefined) break;
    if (reply.status !== 100 && !reply.headers.has('x-request-id')) {
      await connection.closed();
      return [...statuses, `library ${reply.status}`].join(', ');
    }
    statuses.push(reply.status);
  }
  if (statuses.length === 0) return Date.now() - startedMs < AT_ONCE_MS ? 'closed' : 'silence';
  const end = await afterwards(connection);
  return end === 'open' ? statuses.join(', ') : [...statuses, end].join(', ');
}

const cases = rawCases(server.key);
// Most of the time goes into waiting for time-outs: all of them wait at once.
const outcomes = await Promise.all(
  cases.map(async (rawCase) => {
    const connection = await Connection.open(server.port);
    return outcomeOf(connection, rawCase).finally(() => connection.destroy());
  }),
);

/** Keys and long values don't help the reader of a failure. */
function shortened(piece: string): string {
  return piece
    .replaceAll(server.key, 'KEY')
    .replace(/a{100,}/, 'a…a')
    .slice(0, 300);
}

t.test('each case comes to what the document says, and it lists no others', async (t) => {
  for (const [index, rawCase] of cases.entries()) {
    const sent = JSON.stringify(rawCase.pieces.map(shortened));
    t.equal(outcomes[index], expectedOutcome(rawCase), `${rawCase.what}: ${sent}`);
  }
  t.strictSame(new Set(cases.map(({ what }) => what)), new Set(OUTCOMES.keys()));
});

t.test(
  'a request that is lost since another came in its packet is counted apart from hang-ups',
  async (t) => {
    const gone = (cause: string) => server.metric('acuity_callers_gone_total', { cause });
    const headers = { 'X-API-Key': server.key, 'Content-Length': String(BODY.length) };
    const one = head({ headers }) + BODY;
    const list = head({ headers: { ...headers, 'Content-Type': 'application/x-ndjson' } }) + BODY;
    const [pipelined, hungUp] = [await gone('pipelined'), await gone('hungUp')];
    t.ok(pipelined >= 2, 'those of the table');
    for (const first of [one, list]) t.equal(await exchange(server.port, first + one), '');
    // A body that is not whole yet, and a whole one of a caller that stops listening at once.
    for (const sent of [one.slice(0, -1), list]) {
      const connection = await Connection.open(server.port, t);
      await connection.write(sent);
      connection.destroy();
    }
    await until(async () => (await gone('pipelined')) === pipelined + 2);
    await until(async () => (await gone('hungUp')) > hungUp);
    t.equal(await gone('pipelined'), pipelined + 2);
  },
);
