import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { dateOf } from '#acuity/base/days.js';
import { seededRandom } from '#acuity/base/random.js';
import { Histories } from '#acuity/lake/score/histories.js';
import { StateFile } from '#acuity/lake/score/state.js';
import { session } from '#fixtures/bodies.js';
import { FormulaScorer, HAND_MODEL } from '#fixtures/handScorer.js';
import { folder, runStream } from '#fixtures/lake.js';
import { CONSTANTS, randomMeasurements } from '#fixtures/measured.js';
import { linesOf } from '#fixtures/tables.js';

/** The file of `--state`. */

const DAY = 20_000;
const HISTORY = { person: 'person', order: 'at' };
const night = (person: string, day: number, measurements: readonly object[] = []): object => {
  const current_session = measurements.length > 2 ? session(day) : { age: 30 + day };
  return { person, at: dateOf(DAY + day), current_session, measurements };
};

class MeasuringScorer extends FormulaScorer {
  override readonly model = { ...HAND_MODEL, measured: CONSTANTS };
}

/** Scores rows with a state. @returns the output without the numbers of rows */
async function score(rows: readonly object[], state: string): Promise<string> {
  const asked = { history: HISTORY, state, scorer: new MeasuringScorer() };
  const { output, error } = await runStream([Buffer.from(linesOf(rows))], asked);
  if (error !== undefined) throw error;
  return output.toString().replaceAll(/"(row|line)":\d+/g, '');
}

t.test('two runs with a state are as one: scores and state, byte for byte', async (t) => {
  const random = seededRandom(3);
  const days = Array.from({ length: 40 }, (_, day) => day);
  // One has more measurements than there is room for beside the nights of others; long names need several pieces.
  const rows = days.flatMap((day) => {
    const given = (name: string, count: number): object => {
      const measured = randomMeasurements(random, { count, day: DAY + day, daysBack: 90 });
      return night(
        name,
        day,
        measured.map(({ day: on, ...one }) => ({ ...one, on: dateOf(on) })),
      );
    };
    const others = Array.from({ length: day < 9 ? 1_000 : 0 }, (_, n) => `p${n}\u2028`.padStart(2_000, '.'));
    const some = others.filter((_, n) => day <= n % 9).map((name) => night(name, day));
    const late = day % 6 === 1 ? [night('late', 6 - day)] : []; // all but the first are, by the state
    return [...some, given('few', day % 2), given('many', 5), ...late];
  });
  const [dir, half] = [folder(t), Math.floor(rows.length / 2)];
  const [whole, state] = [join(dir, 'whole'), join(dir, 'state')];
  const first = await score(rows.slice(0, half), state);
  if (process.geteuid?.() === 0) chownSync(state, 65534, 65534);
  t.equal(first + (await score(rows.slice(half), state)), await score(rows, whole));
  t.match(first, '"memory"');
  t.ok(statSync(state).size > 2 ** 21);
  t.equal(readFileSync(state, 'utf8'), readFileSync(whole, 'utf8'));
  t.equal(statSync(state).uid, process.geteuid?.(), 'others that may write to its folder may go on with it');
});

t.test('a damaged state is refused with what to do, without a value of it', async (t) => {
  const path = join(folder(t), 'state');
  const refusal = async (bytes: string | Buffer): Promise<string> => {
    writeFileSync(path, bytes);
    return new StateFile(path, new Histories(9)).load().then(() => 'taken', String);
  };
  await score([night('secret', 0), night('other', 0)], path);
  const good = readFileSync(path);
  const [head = '', first = '', second = '', end = ''] = good.toString().split('\n');
  const cases: readonly (readonly [lines: readonly string[], message: RegExp])[] = [
    [[], /is empty/],
    [['{"a":1}'], /is no state file/],
    [['[1,2'], /line 1/],
    [[head.replace(/"format":\d+/, '"format":0'), first, second, end], /another version.*or remove/],
    [[head, first, second], /is cut short.*bring back a copy/],
    [[head, first, end], /line 3.*bring back a copy/],
    [[head, first, first, end], /line 3/],
    [[head, first, second, end, first], /line 5/],
    [[head, '{"secret":1}', end], /line 2/],
  ];
  for (const [lines, message] of cases) {
    const error = await refusal(lines.map((line) => `${line}\n`).join(''));
    t.match(error, message);
    t.notMatch(error, /secret/);
  }
  t.equal(await refusal(good), 'taken');
  for (let at = 0; at < good.length - 1; at++) {
    const damaged = Buffer.from(good);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    const error = await refusal(damaged);
    if (!/state/.test(error)) t.fail(`byte ${at}: ${error}`);
  }
});
