import t from 'tap';
import { openLines } from '#acuity/lake/bodyPages.js';
import { Histories } from '#acuity/lake/histories.js';
import { newTally, scorePages } from '#acuity/lake/scorePages.js';
import { openSink, toStream } from '#acuity/lake/sinks.js';
import { PersonOrder, type Late } from '#acuity/lake/personOrder.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { Collected, HAND_MODEL, HandScorer } from '#fixtures/handScorer.js';
import { engine } from '#fixtures/lake.js';

interface Row {
  readonly person?: unknown;
  readonly at?: unknown;
  readonly session?: object;
  readonly past_sessions?: unknown;
  readonly past_targets?: unknown;
  readonly [other: string]: unknown;
}

interface Result {
  readonly scorer: HandScorer;
  readonly output: Collected;
  readonly histories: Histories;
}

/** Scores rows, each in a piece of its own, with at most `rowsMax` of them under way. */
async function score(
  rows: readonly Row[],
  { peopleMax = 100, rowsMax = 100, late = 'bad' as Late } = {},
): Promise<Result> {
  const scorer = new HandScorer();
  const output = new Collected();
  const histories = new Histories(peopleMax);
  const sink = await openSink(toStream(output), {
    keep: ['person'],
    model: HAND_MODEL,
    format: 'ndjson',
    isStream: true,
    engine,
  });
  async function* input(): AsyncGenerator<Buffer> {
    for (const { session = {}, ...rest } of rows) {
      yield Buffer.from(`${JSON.stringify({ ...rest, current_session: session })}\n`);
    }
  }
  const tally = newTally();
  const limits = DEFAULT_SERIES_LIMITS;
  const { pages } = await openLines(input(), { limits, bodyMaxBytes: 10_000 });
  const history = { person: 'person', order: 'at' };
  const asked = pages({ keep: ['person', 'at'], history });
  const personOrder = new PersonOrder(histories, scorer, late);
  await scorer.answering(scorePages(asked, sink, { scorer, rowsMax, tally, personOrder }));
  return { scorer, output, histories };
}

const day = (number: number): string => new Date(Date.UTC(2025, 0, number, 7)).toISOString();

/** The scores that each row had as its past, by the row's own score. */
function pastOf({ scorer, output }: Result): unknown[] {
  return output.lines.map(({ C_SCORE }) => scorer.past[(C_SCORE ?? 0) - 1]);
}

t.test('rows of one person may lie apart or together: each has those before it', async (t) => {
  const nights = [1, 2, 3, 4, 5, 6, 7, 8];
  const apart = await score(
    nights.flatMap((night) => ['a', 'b', 7].map((person) => ({ person, at: day(night) }))),
  );
  const lengths = pastOf(apart).map((past) => (past as number[]).length);
  t.strictSame(
    lengths,
    nights.flatMap((night) => Array.from({ length: 3 }, () => Math.min(5, night - 1))),
  );
  const together = await score(
    ['a', 'b'].flatMap((person) => nights.map((night) => ({ person, at: day(night) }))),
    { rowsMax: 3 },
  );
  t.strictSame(
    pastOf(together).map((past) => (past as number[]).length),
    [0, 1, 2, 3, 4, 5, 5, 5, 0, 1, 2, 3, 4, 5, 5, 5],
  );
});

t.test('a row without scores is not in any past', async (t) => {
  const result = await score([
    { person: 'a', at: day(1) },
    { person: 'a', at: day(2), session: { age: 131 } },
    { person: 'a', at: day(3) },
  ]);
  t.match(result.output.lines, [{ person: 'a' }, { error: { line: 2, status: 422 } }, {}]);
  t.strictSame(result.scorer.past, [[], [1]]);
});

t.test('a row without a person or a moment is a bad one', async (t) => {
  const { output } = await score([
    { at: day(1) },
    { person: null, at: day(1) },
    { person: 'a' },
    { person: 'a', at: '2025-01-01T07:00:00' },
    { person: 'a', at: 1_700_000_000 },
    { person: 'a', at: day(1), past_sessions: [{}], past_targets: [target()] },
    { person: 'a', at: Date.parse(day(2)) },
  ]);
  const details = output.lines.map(({ error }) => String(error?.detail ?? 'scored'));
  t.match(details, [
    /person/,
    /person/,
    /moment/,
    /without an offset/,
    /seconds/,
    /past_sessions/,
    /^scored$/,
  ]);
});

t.test('the night is the date as it is written; a number is a night of its own', async (t) => {
  const kinds: readonly (readonly [unknown, unknown, unknown, number])[] = [
    // The moments go back, or pass midnight in UTC; the dates do not.
    ['2025-03-01T23:30:00-05:00', '2025-03-01T00:30:00+12:00', '2025-03-02T00:30:00+12:00', 1],
    ['2025-03-01', '2025-03-01T07:00:00Z', '2025-03-02 07:00:00+00', 1],
    [20250228, '20250228', '2025-03-01', 1],
    [Date.parse(day(1)), String(Date.parse(day(1)) + 3_600_000), Date.parse(day(2)), 1],
    [0, 0, 1, 1],
    [65_742, '65742', 65_743, 1],
  ];
  for (const [first, same, next, past] of kinds) {
    const result = await score([first, same, next].map((at) => ({ person: 'a', at })));
    t.strictSame(result.scorer.past, [[], [], [1 + past]], String(first));
  }
  const numbers = await score([1, 2, 3, 17].map((at) => ({ person: 'a', at })));
  t.strictSame(numbers.scorer.past, [[], [1], [1, 2], [1, 2, 3]]);
  const wrong = [
    -1,
    0.5,
    65_744,
    1e9,
    20251301,
    5.7e12,
    '1969-12-31T07:00:00Z',
    '2150-01-01',
    'Jan 1 2025 07:00Z',
  ];
  const { output } = await score(wrong.map((at) => ({ person: 'a', at })));
  for (const [row, { error }] of output.lines.entries())
    t.match(String(error?.detail), /^the moment of this row /, String(wrong[row]));
});

t.test('a late night has its place where that is asked for', async (t) => {
  const rows = [2, 4, 6, 3, 7].map((at) => ({ person: 'a', at: day(at) }));
  const { scorer } = await score(rows, { late: 'place' });
  t.strictSame(scorer.past, [[], [1], [1, 2], [1], [1, 4, 2, 3]]);
});

t.test('after 60 days a night is no past, and after 180 nothing is', async (t) => {
  const { scorer } = await score([1, 50, 70, 300].map((at) => ({ person: 'a', at: day(at) })));
  t.strictSame(scorer.past, [[], [1], [2], []]);
});

t.test('a row with a history of its own is a bad one', async (t) => {
  const { output } = await score([{ person: 'a', at: day(1), history: '' }]);
  t.match(output.lines, [{ error: { status: 422, detail: /a history of its own/ } }]);
});

t.test('the person and the moment may stand after any number of other fields', async (t) => {
  const others = Object.fromEntries(Array.from({ length: 40 }, (_, field) => [`other ${field}`, field]));
  const result = await score([
    { ...others, person: 'a', at: day(1) },
    { person: 'a', ...others, at: day(2) },
  ]);
  t.strictSame(result.scorer.past, [[], [1]]);
});

function target(): object {
  return { C_SCORE: 1, attention: 1, memory: 1, reasoning: 1, stress: 1, valence: 'Low', arousal: 'Low' };
}

t.test('a late night is a bad row, and no past; where it is to end the run, its row is named', async (t) => {
  const rows = [
    { person: 'secret', at: day(2) },
    { person: 'b', at: day(1) },
    { person: 'secret', at: day(1) },
    { person: 'b', at: day(3) },
  ];
  const result = await score([...rows, { person: 'secret', at: day(2) }, { person: 'secret', at: day(3) }]);
  const errors = result.output.lines.map(({ error }) => error?.detail);
  t.match(errors, [undefined, undefined, /^earlier than one of the same .*: sort the input by time/]);
  t.strictSame(errors.slice(3), [undefined, undefined, undefined]);
  // The same night again takes the place of the one before.
  t.strictSame(result.scorer.past, [[], [], [2], [], [4]]);
  const late = 'fail';
  await t.rejects(score(rows, { late }), {
    message: /^row 3 is earlier than one .*; --late bad puts such rows/,
  });
  await score(rows, { late }).catch((error: unknown) => t.notMatch(String(error), /secret/));
});

t.test('more people than memory was set aside for is a clear error', async (t) => {
  const rows = ['a', 'b', 'c'].map((person) => ({ person, at: day(1) }));
  await t.rejects(score(rows, { peopleMax: 2 }), { message: /^more than 2 people/ });
});
