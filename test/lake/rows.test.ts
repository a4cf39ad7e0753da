import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { PROBLEMS } from '#acuity/contract/problems.js';
import { scoreRecord } from '#fixtures/bodies.js';
import { HandScorer } from '#fixtures/handScorer.js';
import { PAST, runStream, type Asked } from '#fixtures/lake.js';
import { linesOf, valuesOf, type TableRow } from '#fixtures/tables.js';

/** The order of rows, what is under way, and the past of each person; the n-th row that is scored gets n. */

const GOOD = '{"current_session":{"age":30}}\n';

type Given = Parameters<typeof runStream>[1] & { readonly scorer?: HandScorer };

/** Scores pieces of NDJSON. */
async function score(pieces: readonly string[], { scorer = new HandScorer(), ...asked }: Given = {}) {
  const run = await runStream(pieces.map(Buffer.from), { ...asked, scorer });
  return { ...run, text: run.output.toString(), scorer, lines: run.rows };
}

t.test('lines keep their order and places: scores, or what the service would have said', async (t) => {
  const cases: readonly (readonly [line: string, status?: number, detail?: unknown])[] = [
    ...Array.from({ length: 10 }, () => [GOOD.trim()] as const),
    ['{"current_session":{"age":131}}', 422, [{ loc: ['body', 'current_session', 'age'] }]],
    ['x', 400, 'Malformed JSON at byte 0'],
    ['{"current_session":{"age":NaN}}', 400, /at byte 26: JSON has neither NaN nor infinity: write null/],
    ['{} {}', 400, /several rows in one line: jq -c/],
    ['{"current_session":', 400, /Malformed JSON/],
    [' '.repeat(2_000), 413, PROBLEMS.bodyTooLarge.detail],
    ['{"current_session":{},"past_sessions":{"Age":1}}', 422, Array],
    ['{"current_session":{},"constructor":{"a":1}}'],
    ['{"current_session":{}}'],
  ];
  // A mark of the byte order is taken, and what has no text is no row.
  const whole = `\ufeff${cases.map(([line]) => line).join('\n')}\n\n \r\n`;
  let scored = 0;
  const expected = cases.map(([, status, detail], index) =>
    status === undefined ? { C_SCORE: ++scored } : { error: { line: index + 1, status, detail } },
  );
  const first =
    /^\{"row":1,"C_SCORE":1,"attention":1,"memory":1,"reasoning":1,"stress":1,"valence":"High","arousal":"Low","inference_time_ms":0.25,(.*,)?"model":"hand","model_version":"1"\}\n/;
  // However the text is cut.
  for (const length of [1, 7, 300, whole.length]) {
    const pieces = whole.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];
    const { lines, text, tally } = await score(pieces, { config: { bodyMaxBytes: 1_000 } });
    t.match(lines, expected, `pieces of ${length}`);
    t.match(tally, { lines: 19, badLines: 7, firstBadLine: 11 });
    t.match(text, first);
  }
  // A first line that is no JSON costs its row, not the run.
  const { lines } = await score([`{"current_session":{"age":NaN}}\n${GOOD}`]);
  t.match(lines, [{ error: { detail: /JSON has neither NaN/ } }, { C_SCORE: 1 }]);
});

t.test('what could not be scored is a bad line; what there was no room for is tried again', async (t) => {
  const scorer = new (class extends HandScorer {
    override answer(waiting: (typeof this.waiting)[number]): void {
      if (waiting.number === 2) waiting.who.failed('fault');
      else super.answer(waiting);
    }
  })();
  scorer.outcomes = ['admitted', 'saturated', 'saturated'];
  const { lines } = await score([GOOD, GOOD, GOOD], { scorer });
  t.strictSame(valuesOf(lines, 'C_SCORE'), [1, undefined, 3]);
  t.match(lines[1], { error: { line: 2, status: 500 } });
});

t.test('kept fields stand in front as they were written, wherever and however that was', async (t) => {
  const others = (count: number): string =>
    Array.from({ length: count }, (_, field) => `"other ${field}":[${field}],`).join('');
  const odd = 'Größe "1"\n😀';
  const key = JSON.stringify(odd);
  const oddly = '"Gr\\u00f6\\u00dfe \\"1\\"\\n\\ud83d\\ude00"';
  const [session, bad] = ['"current_session":{"age":30}', '"current_session":{"age":131}'];
  const cases: readonly (readonly [line: string, start: string])[] = [
    [`{"id":12345678901234567890,${session}}`, '"id":12345678901234567890,"C_SCORE"'],
    [`{${session},"custom_id":{"a":[1.50,"é"]}}`, '"custom_id":{"a":[1.50,"é"]},"C_SCORE"'],
    [`{"custom_id":null,"current_session":{"id":"of the session"}}`, '"custom_id":null,"C_SCORE"'],
    [`{"id":"bad",${bad}}`, '"id":"bad","error"'],
    [`{"id":"first",${session},"id":"last"}`, '"id":"last","C_SCORE"'],
    [`{${others(40)}"id":1,${session}}`, '"id":1,"C_SCORE"'],
    [`{${session},${others(300)}"id":2}`, '"id":2,"C_SCORE"'],
    [`{${others(40)}${session},"\\u0069d":3}`, '"id":3,"C_SCORE"'],
    [`{${oddly}:true,${session}}`, `${key}:true,"C_SCORE"`],
    [`{"Größe \\u0022\\u0031\\"\\u000a😀":0,"explain":null,${bad}}`, `${key}:0,"explain":null,"error"`],
    [`{"id":6,"Gr\\u00f6\\u00dfe \\"1\\"\\n\\ud83d":1,"i\\u0064\\/":7,${session}}`, '"id":6,"C_SCORE"'],
  ];
  const keep = ['id', 'custom_id', odd, 'explain'];
  const { text } = await score([cases.map(([line]) => line).join('\n')], { keep });
  const starts = text.split('\n').map((line) => line.replace(/"row":\d+,("C_SCORE"|"error").*$/, '$1'));
  t.strictSame(starts, [...cases.map(([, start]) => `{${start}`), '']);
});

t.test('reading stops while a row waits for its scores, and while the output is not read', async (t) => {
  const lines = 30_000;
  const input = Array.from({ length: lines / 500 }, () => GOOD.repeat(500));
  let [underWay, whileFull, written] = [0, 0, 0];
  const scorer = new (class extends HandScorer {
    override answerAll(): void {
      underWay = Math.max(underWay, this.waiting.length);
      super.answerAll();
    }
  })();
  const write = async (bytes: string | Uint8Array): Promise<void> => {
    written += bytes.toString().split('\n').length - 1;
    if (whileFull > 0) return;
    // The first piece is taken once no more rows come.
    do {
      whileFull = scorer.admitted;
      await sleep(20);
    } while (scorer.admitted > whileFull);
  };
  await score(input, { scorer, write });
  t.ok(underWay <= 4_096, `${underWay} rows waited for their scores`);
  t.ok(whileFull <= 3 * 4_096, `${whileFull} rows were read for a reader that does not read`);
  t.equal(written, lines);
});

t.test('an input that breaks leaves what was read; an output that breaks ends the reading', async (t) => {
  async function* breaking(): AsyncGenerator<Buffer> {
    yield Buffer.from(GOOD + GOOD);
    throw new Error('the disk is gone');
  }
  t.match(await runStream(breaking()), { error: { message: 'the disk is gone' }, rows: { length: 2 } });
  const lines = Array.from({ length: 20 }, () => GOOD.repeat(1_000));
  const broken = await score(lines, { write: () => Promise.reject(new Error('no reader')) });
  t.match(broken.error, { message: 'no reader' });
  t.ok(broken.scorer.admitted < 10_000, `${broken.scorer.admitted}`);
  t.equal(broken.scorer.waiting.length, 0);
});

const day = (number: number): string => new Date(Date.UTC(2025, 0, number, 7)).toISOString();

/** Scores nights of people. @returns the scores that each row had as its past, by the row's own score */
async function pasts(rows: readonly TableRow[], asked: Omit<Asked, 'scorer'> = {}) {
  const lines = rows.map((row) => linesOf([{ current_session: { age: 30 }, ...row }]));
  const run = await score(lines, { history: PAST, keep: ['person'], ...asked });
  return {
    ...run,
    pasts: run.lines.map(({ C_SCORE }) => run.scorer.past[Number(C_SCORE) - 1]),
    details: run.lines.map(({ error }) => (error as TableRow | undefined)?.['detail']),
  };
}

t.test('the night is the date as it is written, and the same night replaces the one before', async (t) => {
  const same = [[], [], [2]];
  const further = [[], [1], [1, 2]];
  const cases: readonly (readonly [at: readonly unknown[], past: unknown, late?: 'place'])[] = [
    // The moments go back, or pass midnight in UTC; the dates do not.
    [['2025-03-01T23:30:00-05:00', '2025-03-01T00:30:00+12:00', '2025-03-02T00:30:00+12:00'], same],
    [['2025-03-01', '2025-03-01T07:00:00Z', '2025-03-02 07:00:00+00'], same],
    [[20250228, '20250228', '2025-03-01'], same],
    [[Date.parse(day(1)), String(Date.parse(day(1)) + 3_600_000), Date.parse(day(2))], same],
    [[0, 0, 1], same],
    [[65_742, '65742', '6.5743e4'], same],
    // A session has a past of five.
    [[1, 2, 3, 4, 5, 6, 7].map(day), [...further, [1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5], [2, 3, 4, 5, 6]]],
    // After 60 days a night is no past, and after 180 nothing is.
    [[1, 50, 70, 300].map(day), [[], [1], [2], []]],
    [[2, 4, 6, 3, 7].map(day), [[], [1], [1, 2], [1], [1, 4, 2, 3]], 'place'],
  ];
  for (const [moments, past, late = 'bad'] of cases) {
    const rows = moments.map((at) => ({ person: 'a', at }));
    t.strictSame((await pasts(rows, { late })).pasts, past, String(moments[0]));
  }
});

t.test('a row without a person or a night, or with a past of its own, is a bad one', async (t) => {
  const numbers = [-1, 0.5, 65_744, 1e9, 20251301, 5.7e12];
  const moments = [...numbers, '1969-12-31T07:00:00Z', '2150-01-01', 'Jan 1 2025 07:00Z'];
  const cases: readonly (readonly [row: TableRow, detail: unknown])[] = [
    [{ person: 'a', at: Date.parse(day(1)) }, undefined],
    [{ at: day(1) }, /person/],
    [{ person: null, at: day(1) }, /person/],
    [{ person: 'a' }, /moment/],
    [{ person: 'a', at: '2025-01-01T07:00:00' }, /without an offset/],
    [{ person: 'a', at: 1_700_000_000 }, /seconds/],
    [{ person: 'a', at: day(1), past_sessions: [{}], past_targets: [scoreRecord()] }, /past_sessions/],
    [{ person: 'a', at: day(1), history: '' }, /a history of its own/],
    ...moments.map((at) => [{ person: 'a', at }, /^the moment of this row /] as const),
  ];
  const { details } = await pasts(cases.map(([row]) => row));
  for (const [index, [row, detail]] of cases.entries()) t.match(details[index], detail, JSON.stringify(row));
});

t.test('a late night is a bad row and no past, or ends the run; too many people end it too', async (t) => {
  const nights = ['secret 2', 'b 1', 'secret 1', 'b 3', 'secret 2', 'secret 3'];
  const rows = nights.map((night) => ({ person: night.slice(0, -2), at: day(Number(night.slice(-1))) }));
  const { details, scorer } = await pasts(rows);
  t.match(details, [undefined, undefined, /^earlier .*: sort the input/, undefined, undefined, undefined]);
  t.strictSame(scorer.past, [[], [], [2], [], [4]]);
  const { error } = await pasts(rows, { late: 'fail' });
  t.match(error, { message: /^row 3 is earlier than one .*; --late bad puts such rows/ });
  t.notMatch(String(error), /secret/);
  t.match((await pasts(rows, { peopleMax: 1 })).error, { message: /^more than 1 people/ });
  const cells = Buffer.from(`person,at,age,measured_stress\nc,${day(1)},30,50\na,${day(2)},30,\n`);
  const other = await runStream([cells], { history: PAST, format: 'csv', peopleMax: 1 });
  t.match(other, { tally: { badLines: 1 }, error: undefined }, 'a row that is refused makes no person known');
});
