import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ENTRY_LENGTH, Histories } from '#acuity/batch/histories.js';
import { StateFile } from '#acuity/batch/state.js';
import { LAYOUT } from '#acuity/records/layout.js';

const { RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'acuity-state-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function filled(people: number): Histories {
  const histories = new Histories(10_000);
  for (let person = 0; person < people; person++) {
    for (let night = 0; night <= person % 7; night++) {
      const record = Float64Array.from({ length: RECORD_LENGTH }, (_, i) =>
        i === 3 ? NaN : person / 3 + night + i,
      );
      const target = Float64Array.from({ length: TARGET_LENGTH }, (_, i) => night + i / 100);
      histories.add(histories.indexOf(`p${person}`), 1_000 * night, record, target);
    }
  }
  return histories;
}

t.test('what was saved is read again, to the last digit', async (t) => {
  const path = join(folder(t), 'state');
  const histories = filled(3_000);
  const saved = new StateFile(path, histories);
  saved.inputs.add('nights-1.ndjson');
  saved.save();
  const read = new Histories(10_000);
  const state = new StateFile(path, read);
  await state.load();
  t.strictSame([...state.inputs], ['nights-1.ndjson']);
  t.equal(read.size, 3_000);
  const plain = (of: Histories) => [...of.entries()].map(([person, numbers]) => [person, ...numbers]);
  t.strictSame(plain(read), plain(histories));
  t.equal(plain(read)[6]?.length, 1 + 5 * ENTRY_LENGTH);
  t.equal(statSync(path).mode & 0o077, 0, 'health data is its owner’s alone');
  t.strictSame(readdirSync(join(path, '..')), ['state']);
});

t.test('no file yet is an empty state', async (t) => {
  const histories = new Histories(1);
  await new StateFile(join(folder(t), 'none'), histories).load();
  t.equal(histories.size, 0);
});

t.test('a file that is no state, or a damaged one, is refused without a value of it', async (t) => {
  const dir = folder(t);
  const path = join(dir, 'state');
  new StateFile(path, filled(1)).save();
  const good = JSON.stringify({ kind: 'acuity histories', format: 1, record: RECORD_LENGTH, inputs: [] });
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /is empty/],
    ['{"a":1}\n', /is no state file/],
    ['[1,2\n', /line 1 is not/],
    [`${good.replace(/"record":\d+/, '"record":3')}\n`, /another version/],
    [`${good}\n["secret",1,2]\n`, /line 2 is not/],
    [`${good}\n{"secret":1}\n`, /line 2 is not/],
  ];
  for (const [text, message] of cases) {
    writeFileSync(path, text);
    const error: unknown = await new StateFile(path, new Histories(9)).load().catch((e: unknown) => e);
    t.match(String(error), message);
    t.notMatch(String(error), /secret/);
  }
});
