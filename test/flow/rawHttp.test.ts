import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Connection, head } from '../fixtures/connection.js';
import { rawCases, type RawCase } from '../fixtures/rawCases.js';
import { REPOSITORY } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';

/**
 * What the HTTP library makes of odd bytes, pinned: `docs/ERRORS.md` promises this and no more. Where a case comes
 * out otherwise with another version of the library, the table and the document are what to change, once it is
 * clear that a proxy in front still reads the same requests as we do.
 */

/** Long enough for the server to read what came before it by itself, on a busy machine too. */
const PAUSE_MS = 300;
/** The library's time-outs come after 8 to 12 s; an end before this was meant. */
const AT_ONCE_MS = 5_000;
const NEXT_ID = 'the-next-request';

/** The ABI of Node 20. The library's builds for newer ones are newer themselves. */
const OLDER_ABI = 115;
const isOlder = Number(process.versions.modules) <= OLDER_ABI;

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const nextRequest =
  head({ headers: { 'X-API-Key': server.key, 'X-Request-Id': NEXT_ID, 'Content-Length': '22' } }) +
  '{"current_session":{}}';

function expectedOf({ outcome, newerOutcome }: RawCase): string {
  return isOlder ? outcome : newerOutcome;
}

async function send(connection: Connection, pieces: readonly string[]): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    await connection.write(Buffer.from(piece, 'latin1'));
  }
}

/** How the connection serves one more request. */
async function afterwards(connection: Connection): Promise<'open' | 'spoiled' | 'closed'> {
  const startedMs = Date.now();
  await connection.write(nextRequest);
  const next = await connection.replyOrEnd();
  if (next === undefined) return Date.now() - startedMs < AT_ONCE_MS ? 'closed' : 'spoiled';
  return next.status === 200 && next.headers.get('x-request-id') === NEXT_ID ? 'open' : 'spoiled';
}

/** What a case comes to, in the words of the table; `answers` says how many to wait for. */
async function outcomeOf(connection: Connection, { pieces }: RawCase, answers: number): Promise<string> {
  const startedMs = Date.now();
  await send(connection, pieces);
  const statuses: number[] = [];
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

async function observed(rawCase: RawCase): Promise<string> {
  const connection = await Connection.open(server.port);
  try {
    const answers = expectedOf(rawCase).match(/\d+/g)?.length ?? 1;
    return await outcomeOf(connection, rawCase, answers);
  } finally {
    connection.destroy();
  }
}

const cases = rawCases(server.key);
// Most of the time goes into waiting for time-outs: all of them wait at once.
const outcomes = await Promise.all(cases.map(observed));

for (const what of new Set(cases.map((rawCase) => rawCase.what))) {
  t.test(what, async (t) => {
    for (const [index, rawCase] of cases.entries()) {
      if (rawCase.what !== what) continue;
      t.equal(outcomes[index], expectedOf(rawCase), JSON.stringify(rawCase.pieces.map(shortened)));
    }
  });
}

/** Keys and long values don't help whoever reads a failure. */
function shortened(piece: string): string {
  return piece
    .replaceAll(server.key, 'KEY')
    .replace(/a{100,}/, 'a…a')
    .slice(0, 300);
}

t.test('the document tells these cases, and no others', async (t) => {
  const document = readFileSync(join(REPOSITORY, 'docs/ERRORS.md'), 'utf8');
  const section = document
    .split('\n## ')
    .find((text) => text.startsWith('What the HTTP library answers by itself'));
  const told = (section ?? '').split('\n').filter((line) => /^\| (?!what was sent)/.test(line));
  const found = cases.map(({ what, outcome, newerOutcome }) => {
    return `| ${what.replaceAll('|', '\\|')} | ${outcome} | ${newerOutcome} |`;
  });
  t.strictSame(told, [...new Set(found)]);
});
