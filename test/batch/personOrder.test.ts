import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { linePages } from '#acuity/batch/bodyPages.js';
import { Histories } from '#acuity/batch/histories.js';
import { newTally, scorePages } from '#acuity/batch/scorePages.js';
import { openSink, toStream } from '#acuity/batch/sinks.js';
import { PersonOrder } from '#acuity/batch/personOrder.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { Collected, HAND_MODEL, HandScorer } from '#fixtures/handScorer.js';
import { REPOSITORY } from '#fixtures/repository.js';

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
async function score(rows: readonly Row[], { peopleMax = 100, rowsMax = 100 } = {}): Promise<Result> {
  const scorer = new HandScorer();
  const output = new Collected();
  const histories = new Histories(peopleMax);
  const sink = await openSink(toStream(output), {
    keep: ['person'],
    model: HAND_MODEL,
    format: 'ndjson',
    isStream: true,
  });
  async function* input(): AsyncGenerator<Buffer> {
    for (const { session = {}, ...rest } of rows) {
      yield Buffer.from(`${JSON.stringify({ ...rest, current_session: session })}\n`);
    }
  }
  const tally = newTally();
  const pages = linePages(input(), tally, {
    limits: DEFAULT_SERIES_LIMITS,
    bodyMaxBytes: 10_000,
    keep: ['person'],
    history: { person: 'person', order: 'at' },
  });
  const personOrder = new PersonOrder(histories, scorer);
  await scorer.answering(scorePages(pages, sink, { scorer, rowsMax, tally, personOrder }));
  return { scorer, output, histories };
}

const day = (number: number): string => new Date(Date.UTC(2025, 0, number, 7)).toISOString();

/** The scores that each row had as its past, by the row's own score. */
function pastOf({ scorer, output }: Result): unknown[] {
  return output.lines.map(({ C_SCORE }) => scorer.past[(C_SCORE ?? 0) - 1]);
}

/** What the clients do, said as data: steps with sessions that are numbers, and the past of each. */
interface HistoryCase {
  readonly name: string;
  readonly steps: readonly { person?: string; at?: string; session?: number; [other: string]: unknown }[];
  readonly expect: { readonly past?: readonly (readonly number[])[] };
}

t.test('histories are those of the clients', async (t: Test) => {
  const text = readFileSync(join(REPOSITORY, 'packages/cases/history.json'), 'utf8');
  let tried = 0;
  for (const { name, steps, expect, ...others } of JSON.parse(text) as HistoryCase[]) {
    if (Object.keys(others).length > 0) continue; // of the storage
    const isPlain = steps.every((step) => Object.keys(step).toSorted().join() === 'at,person,session');
    const isSorted = steps.every(({ person, at = '' }, index) =>
      steps
        .slice(0, index)
        .every((before) => before.person !== person || Date.parse(before.at ?? '') <= Date.parse(at)),
    );
    if (!isPlain || !isSorted || expect.past === undefined) continue;
    tried++;
    const result = await score(steps.map(({ person, at }) => ({ person, at })));
    // A session of the cases is known by its number, one of ours by its score.
    const sessions = new Map(
      result.output.lines.map(({ C_SCORE }, index) => [C_SCORE, steps[index]?.session]),
    );
    const past = (pastOf(result) as number[][]).map((scores) => scores.map((score) => sessions.get(score)));
    t.strictSame(past, expect.past, name);
  }
  t.ok(tried >= 4, `${tried} cases`);
});

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

t.test('a row that could not be scored is nobody’s past', async (t) => {
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

t.test('input that is not sorted ends with the row that shows it, and without its person', async (t) => {
  const rows = [
    { person: 'secret', at: day(2) },
    { person: 'b', at: day(1) },
    { person: 'secret', at: day(1) },
    { person: 'b', at: day(3) },
  ];
  await t.rejects(score(rows), { message: /^row 3 is earlier than one of the same person before it/ });
  await score(rows).catch((error: unknown) => t.notMatch(String(error), /secret/));
});

t.test('more people than memory was set aside for is a clear error', async (t) => {
  const rows = ['a', 'b', 'c'].map((person) => ({ person, at: day(1) }));
  await t.rejects(score(rows, { peopleMax: 2 }), { message: /^more than 2 people/ });
});
