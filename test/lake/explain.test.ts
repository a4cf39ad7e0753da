import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { requestsOf } from '#acuity/load/payloads.js';
import { MODEL } from '../fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';
import { startServer } from '../fixtures/server.js';
import { rowsOfTable, tableOf, writeArrow, type TableRow } from '../fixtures/tables.js';

const run = promisify(execFile);

interface Row extends Record<string, unknown> {
  readonly id: string;
  readonly explanation: unknown;
}

const NIGHTS = 17;

/** Nights of two people, by time, enough for what is usual; one lacks a series. */
function nights(): TableRow[] {
  const sessions = requestsOf('baseline', 2 * NIGHTS).map(({ current_session }) => current_session);
  return sessions.map((session, row) => ({
    id: `row ${row}`,
    person: `p${row % 2}`,
    at: Date.UTC(2025, 0, 1 + Math.floor(row / 2), 7),
    ...session,
    ...(row === 5 ? { RR_night: null } : {}),
  }));
}

function score(args: readonly string[]): Promise<unknown> {
  const env = cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL });
  return run(process.execPath, [join(REPOSITORY, 'dist/main.js'), 'score', ...args], { env });
}

t.test(
  '--explain: what the service says of the same session with the same past, in each format',
  async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'acuity-explain-'));
    t.teardown(() => rmSync(dir, { recursive: true, force: true }));
    const rows = nights();
    const line = ({ id, person, at, ...session }: TableRow): string =>
      `${JSON.stringify({ id, person, at: new Date(at as number).toISOString(), current_session: session })}\n`;
    writeFileSync(join(dir, 'lines.ndjson'), rows.map(line).join(''));
    writeArrow(join(dir, 'table.arrow'), tableOf(rows, 'float'), 'file');
    const history = ['--explain', '--person', 'person', '--order', 'at'];
    await score([join(dir, 'lines.ndjson'), ...history]);
    await score([join(dir, 'lines.ndjson'), ...history, '--to', 'csv']);
    await score([join(dir, 'table.arrow'), ...history]);

    const text = readFileSync(join(dir, 'lines.scores.ndjson'), 'utf8');
    const scored = text
      .split('\n')
      .slice(0, -1)
      .map((row) => JSON.parse(row) as Row);
    t.strictSame(
      scored.map(({ id }) => id),
      rows.map(({ id }) => id),
    );

    const server = await startServer(t);
    const histories = new Map<unknown, string>();
    for (const [row, { id: _, person, at, ...session }] of rows.entries()) {
      const night = new Date(at as number).toISOString().slice(0, 10);
      const history = histories.get(person) ?? '';
      const body = { current_session: session, history, night, explain: true };
      const answer = await fetch(`http://127.0.0.1:${server.port}/predict`, {
        method: 'POST',
        headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      t.equal(answer.status, 200);
      const { explanation, history: next } = (await answer.json()) as Row & { readonly history: string };
      histories.set(person, next);
      t.strictSame(scored[row]?.explanation, explanation, `row ${row}`);
    }

    t.match(scored.at(-1)?.explanation, { against: 'usual' });
    const table = await rowsOfTable(readFileSync(join(dir, 'table.scores.arrow')), 'arrow');
    t.strictSame(
      table.map((row) => JSON.parse(String(row['explanation'])) as unknown),
      scored.map(({ explanation }) => explanation),
    );
    const [header = '', first = ''] = readFileSync(join(dir, 'lines.scores.csv'), 'utf8').split('\n');
    t.match(header, /,explanation$/);
    const cell = first.slice(first.indexOf('"{') + 1, -1).replaceAll('""', '"');
    t.strictSame(JSON.parse(cell), scored[0]?.explanation);
  },
);
