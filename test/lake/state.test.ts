import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '#acuity/base/random.js';
import { HistoryDesk } from '#acuity/history/historyDesk.js';
import type { GivenMeasurement } from '#acuity/records/request.js';
import { CONSTANTS, randomMeasurements } from '../fixtures/measured.js';
import t, { type Test } from 'tap';
import { Histories } from '#acuity/lake/histories.js';
import { StateFile } from '#acuity/lake/state.js';
import { LAYOUT } from '#acuity/records/layout.js';
import { SCALAR_PLACES } from '#acuity/records/places.js';
import { HAND_MODEL } from '#fixtures/handScorer.js';

const { RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'acuity-state-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A session of nothing but an age. */
function record(age: number): Float64Array {
  const numbers = new Float64Array(RECORD_LENGTH).fill(NaN, 0, LAYOUT.SCALARS);
  numbers[SCALAR_PLACES.age] = age;
  return numbers;
}

/** Scores a session with `score`; @returns the scores of its past */
function night(
  histories: Histories,
  name: string,
  day: number,
  score: number,
  given: readonly GivenMeasurement[] = [],
): number[] {
  const person = histories.of(name);
  const { request, next } = histories.ready(person, {
    night: day,
    record: record(30),
    measuring: { constants: CONSTANTS, given },
  });
  const past = Array.from(
    { length: request.pastCount },
    (_, at) => request.targets[at * TARGET_LENGTH] ?? NaN,
  );
  const scores = Float32Array.of(score, score, score, score, score, 0.9, 0.1);
  person.latest = Math.max(person.latest, day);
  histories.add(person, next, { scores, offset: 0, model: HAND_MODEL });
  return past;
}

function filled(people: number): Histories {
  const histories = new Histories(10_000);
  for (let person = 0; person < people; person++) {
    for (let day = 0; day <= person % 9; day++) night(histories, `p${person}\u2028`, 20_000 + day, day);
  }
  return histories;
}

t.test(
  'measurements are kept in a state, and more than there is room for beside the nights of others',
  async (t) => {
    const path = join(folder(t), 'state');
    const random = seededRandom(3);
    const histories = new Histories(10_000);
    for (let day = 0; day < 40; day++) {
      for (const name of ['few', 'many', 'none']) {
        const count = name === 'none' ? 0 : name === 'few' ? day % 2 : 5;
        const given = randomMeasurements(random, { count, day: 20_000 + day, daysBack: 90 });
        night(histories, name, 20_000 + day, 50, given);
      }
      if (day % 9 === 0) t.strictSame(night(histories, `new ${day}`, 20_000, 50), []);
    }
    t.ok(histories.areMeasured);
    new StateFile(path, histories).save();
    const read = new Histories(10_000);
    await new StateFile(path, read).load();
    t.strictSame([...read.entries()], [...histories.entries()]);
    t.ok(read.areMeasured);
    const desk = new HistoryDesk();
    const measured = [...read.entries()].filter(({ history }) => {
      return desk.read(history) && !desk.history.measurements.isEmpty;
    });
    t.strictSame(
      measured.map(({ person }) => person),
      ['few', 'many'],
    );
    t.equal(filled(20).areMeasured, false);
  },
);

t.test('what was saved is read again, and goes on', async (t) => {
  const path = join(folder(t), 'state');
  const histories = filled(3_000);
  const saved = new StateFile(path, histories);
  saved.inputs.set('nights-1.ndjson', '12-ab');
  saved.save();
  const read = new Histories(10_000);
  const state = new StateFile(path, read);
  await state.load();
  t.strictSame([...state.inputs], [['nights-1.ndjson', '12-ab']]);
  t.equal(read.size, 3_000);
  t.strictSame([...read.entries()], [...histories.entries()]);
  t.match([...read.entries()][8]?.history, /^acu1\.[\w-]+$/);
  t.strictSame(night(read, 'p8\u2028', 20_009, 9), [4, 5, 6, 7, 8]);
  t.equal(statSync(path).mode & 0o077, 0, 'health data is its owner’s alone');
  t.strictSame(readdirSync(join(path, '..')), ['state']);
});

t.test('no file yet is an empty state', async (t) => {
  const histories = new Histories(1);
  await new StateFile(join(folder(t), 'none'), histories).load();
  t.equal(histories.size, 0);
});

t.test('a damaged state is refused with what to do, without a value of it', async (t) => {
  const path = join(folder(t), 'state');
  const refusal = async (bytes: string | Buffer): Promise<string> => {
    writeFileSync(path, bytes);
    return new StateFile(path, new Histories(9)).load().then(
      () => 'taken',
      (error: unknown) => String(error),
    );
  };
  const histories = new Histories(9);
  for (const name of ['secret', 'other']) night(histories, name, 20_000, 1);
  new StateFile(path, histories).save();
  const good = readFileSync(path);
  const [head = '', first = '', second = '', end = ''] = good.toString().split('\n');
  const text = (...lines: string[]): string => lines.map((line) => `${line}\n`).join('');
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /is empty/],
    ['{"a":1}\n', /is no state file/],
    ['[1,2\n', /line 1/],
    [text(head.replace('"format":3', '"format":2'), first, second, end), /another version.*or remove/],
    [text(head, first, second), /is cut short.*bring back a copy/],
    [text(head, first, end), /line 3.*bring back a copy/],
    [text(head, first, first, end), /line 3/],
    [text(head, first, second, end, first), /line 5/],
    [text(head, '{"secret":1}', end), /line 2/],
  ];
  for (const [state, message] of cases) {
    const error = await refusal(state);
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
