import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { tableToIPC } from 'apache-arrow';
import t, { type Test } from 'tap';
import { arrowStreams } from '#acuity/lake/arrowStreams.js';
import { requestsOf } from '#acuity/load/payloads.js';
import { modelScorer, runStream } from '../fixtures/lake.js';
import { MODEL } from '../fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { rowsOfTable, tableOf, type TableRow } from '../fixtures/tables.js';

const PROGRAM = join(REPOSITORY, 'dist/main.js');
const HISTORY = ['--keep', 'id,person', '--person', 'person', '--order', 'at'];

/** Nights of two people by time, in batches of two. */
function nights(first = 0): TableRow[] {
  const sessions = requestsOf('baseline', first + 6).map(({ current_session }) => current_session);
  return sessions.slice(first).map((session, row) => ({
    id: `row ${row}`,
    person: `p${row % 2}`,
    at: Date.UTC(2025, 0, 1 + Math.floor(row / 2), 7),
    ...session,
  }));
}

const bytesOf = (rows: readonly TableRow[]): Uint8Array => tableToIPC(tableOf(rows, 'float', 2), 'stream');

/** A running `acuity score`, and its answers as they come. */
function start(t: Test, args: readonly string[]) {
  const env = cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL });
  const child = spawn(process.execPath, [PROGRAM, 'score', '--format', 'arrow', ...args], { env });
  t.teardown(() => child.kill('SIGKILL'));
  child.stdin.on('error', () => undefined); // a process that has ended takes no more
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const answers = arrowStreams(child.stdout);
  const exited = Promise.all([once(child, 'exit'), once(child.stderr, 'end')]);
  const ending = exited.then(([[code]]) => ({ code: code as number | null, said }));
  return { child, ending, next: async () => rowsIn((await answers.next()).value ?? []) };
}

async function rowsIn(stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<TableRow[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return rowsOfTable(Buffer.concat(pieces), 'arrow');
}

/** The scores of a table alone. */
async function alone(rows: readonly TableRow[]): Promise<TableRow[]> {
  const history = { person: 'person', order: 'at' };
  const { output } = await runStream([bytesOf(rows)], {
    format: 'arrow',
    keep: ['id', 'person'],
    history,
    scorer,
  });
  return rowsOfTable(output, 'arrow');
}

const scorer = await modelScorer();
t.teardown(() => scorer.close());

t.test('--tables: one process answers table after table, each with no past but its own', async (t) => {
  const tables = [nights(), nights(), nights(3), [{ ...nights()[0], age: 131 }, nights()[2] ?? {}]];
  const { child, ending, next } = start(t, ['--tables', ...HISTORY]);
  for (const rows of tables) {
    const [begin, end] = [bytesOf(rows).subarray(0, 1001), bytesOf(rows).subarray(1001)];
    child.stdin.write(begin);
    child.stdin.write(end);
    // Its input is still open: the answer waits for nothing after the table.
    const scored = await next();
    t.strictSame(scored, await alone(rows));
    t.equal(scored.length, rows.length);
  }
  child.stdin.end();
  const { code, said } = await ending;
  t.match({ code, said }, { code: 65, said: /20 lines in .* 1 bad/ });
  t.equal(said.match(/ found HR_night| fields of a session found/g)?.length, 1, said);
});

t.test(
  '--tables: what ends a table ends the process with the reason; the ones before it are answered',
  async (t) => {
    for (const [bytes, said] of [
      [bytesOf(nights().toReversed()), /row 3 is earlier than one of the same person/],
      [bytesOf(nights()).subarray(0, 3000), /the Arrow stream ends too early/],
      [Buffer.from('{"current_session":{}}\n'), /no message of Arrow's streaming format/],
    ] as const) {
      const { child, ending, next } = start(t, ['--tables', '--late', 'fail', ...HISTORY]);
      child.stdin.write(bytesOf(nights()));
      t.equal((await next()).length, 6);
      child.stdin.end(bytes);
      t.match(await ending, { code: 65, said });
    }
  },
);

t.test('--tables: what does not go with it is refused', async (t) => {
  const misuse: readonly (readonly [args: readonly string[], said: RegExp])[] = [
    [['--tables'], /--tables needs --format arrow/],
    [['--tables', '--format', 'arrow', '--to', 'csv'], /an Arrow stream is answered by one, or --to ndjson/],
    [['--tables', '--format', 'arrow', 'nights.parquet'], /--tables .* is for standard input/],
    [['--tables', '--format', 'arrow', ...HISTORY, '--state', 's'], /the past of a table ends with it/],
  ];
  for (const [args, said] of misuse) {
    const { code, stderr } = await ended(process.execPath, [PROGRAM, 'score', ...args], {
      cwd: REPOSITORY,
      env: cleanEnvironment(),
    });
    t.equal(code, 64);
    t.match(stderr, said);
  }
});
