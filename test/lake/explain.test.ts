import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableToIPC } from 'apache-arrow';
import t from 'tap';
import { requestsOf } from '#acuity/load/payloads.js';
import { folder, modelScorer, runStream, scoreOne } from '#fixtures/lake.js';
import { startServer } from '#fixtures/server.js';
import { rowsOfTable, tableOf, type TableRow } from '#fixtures/tables.js';

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

t.test(
  '--explain: what the service says of the same session with the same past, in each format',
  async (t) => {
    const dir = folder(t);
    const scorer = await modelScorer();
    t.teardown(() => scorer.close());
    const rows = nights();
    const line = ({ id, person, at, ...session }: TableRow): string =>
      `${JSON.stringify({ id, person, at: new Date(at as number).toISOString(), current_session: session })}\n`;
    writeFileSync(join(dir, 'lines.ndjson'), rows.map(line).join(''));
    const asked = { explain: true, history: { person: 'person', order: 'at' }, scorer };
    const scored = (await scoreOne(join(dir, 'lines.ndjson'), asked)).rows as Row[];
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
    const { output } = await runStream([tableToIPC(tableOf(rows, 'float'), 'stream')], {
      ...asked,
      format: 'arrow',
    });
    const parquet = await scoreOne(join(dir, 'lines.ndjson'), { ...asked, to: 'parquet' });
    for (const table of [await rowsOfTable(output, 'arrow'), parquet.rows])
      t.strictSame(
        table.map((row) => JSON.parse(String(row['explanation'])) as unknown),
        scored.map(({ explanation }) => explanation),
      );
  },
);
