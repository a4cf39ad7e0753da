import { chownSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { seededRandom } from '#acuity/base/random.js';
import { Histories } from '#acuity/lake/histories.js';
import { StateFile } from '#acuity/lake/state.js';
import { LAYOUT } from '#acuity/records/layout.js';
import { SCALAR_PLACES } from '#acuity/records/places.js';
import type { GivenMeasurement } from '#acuity/records/request.js';
import { HAND_MODEL } from '#fixtures/handScorer.js';
import { historyReader } from '#fixtures/histories.js';
import { folder } from '#fixtures/lake.js';
import { CONSTANTS, randomMeasurements } from '#fixtures/measured.js';

const { RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;
const DAY = 20_000;

/** Scores a session of nothing but an age with `score`. @returns the scores of its past */
function night(
  histories: Histories,
  name: string,
  { day, score, given = [] }: { day: number; score: number; given?: readonly GivenMeasurement[] },
): number[] {
  const person = histories.of(name);
  const record = new Float64Array(RECORD_LENGTH).fill(NaN, 0, LAYOUT.SCALARS);
  record[SCALAR_PLACES.age] = 30;
  const request = histories.ready(person, { night: DAY + day, record, given, constants: CONSTANTS });
  const past = Array.from(
    { length: request.pastCount },
    (_, at) => request.targets[at * TARGET_LENGTH] ?? NaN,
  );
  const scores = Float32Array.of(score, score, score, score, score, 0.9, 0.1);
  person.latest = Math.max(person.latest, DAY + day);
  if (request.history !== undefined)
    histories.add(person, request.history, { scores, offset: 0, model: HAND_MODEL });
  return past;
}

t.test('what was saved is read again with its measurements, and goes on', async (t) => {
  const path = join(folder(t), 'state');
  const random = seededRandom(3);
  const histories = new Histories(10_000);
  for (let person = 0; person < 3_000; person++)
    for (let day = 0; day <= person % 9; day++) night(histories, `p${person}\u2028`, { day, score: day });
  t.notOk(histories.areMeasured);
  // More than there is room for beside the nights of others.
  for (let day = 0; day < 40; day++)
    for (const [name, count] of [
      ['few', day % 2],
      ['many', 5],
    ] as const) {
      const given = randomMeasurements(random, { count, day: DAY + day, daysBack: 90 });
      night(histories, name, { day, score: 50, given });
    }
  const saved = new StateFile(path, histories);
  saved.inputs.set('nights-1.ndjson', '12-ab');
  saved.save();
  if (process.geteuid?.() === 0) chownSync(path, 65534, 65534);
  saved.save();
  t.equal(statSync(path).uid, process.geteuid?.(), 'others that may write to its folder may go on with it');
  const again = new Histories(10_000);
  const state = new StateFile(path, again);
  await state.load();
  t.strictSame([...state.inputs], [['nights-1.ndjson', '12-ab']]);
  t.equal(again.size, 3_002);
  t.ok(again.areMeasured);
  t.strictSame([...again.entries()], [...histories.entries()]);
  const parser = historyReader();
  const isMeasured = (text: string): boolean =>
    parser.readHistoryText(text) && !parser.desk.history.measurements.isEmpty;
  const measured = [...again.entries()]
    .filter(({ history }) => isMeasured(history))
    .map(({ person }) => person);
  t.strictSame(measured, ['few', 'many']);
  t.strictSame(night(again, 'p8\u2028', { day: 9, score: 9 }), [4, 5, 6, 7, 8]);
  t.strictSame(readdirSync(join(path, '..')), ['state']);
  await new StateFile(`${path}-none`, new Histories(1)).load(); // no file yet is an empty state
});

t.test('a damaged state is refused with what to do, without a value of it', async (t) => {
  const path = join(folder(t), 'state');
  const refusal = async (bytes: string | Buffer): Promise<string> => {
    writeFileSync(path, bytes);
    return new StateFile(path, new Histories(9)).load().then(() => 'taken', String);
  };
  const histories = new Histories(9);
  for (const name of ['secret', 'other']) night(histories, name, { day: 0, score: 1 });
  new StateFile(path, histories).save();
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
