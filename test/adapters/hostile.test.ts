import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PROVIDERS, readRecording, recordingProblem, type Recording } from '#adapters/recording.js';
import { below, pick, seededRandom, type Random } from '#acuity/base/random.js';
import { REPOSITORY } from '../fixtures/repository.js';

const FOLDER = join(REPOSITORY, 'packages/cases/adapters');
const RECORDINGS: readonly Recording[] = readdirSync(FOLDER).flatMap((file) =>
  (JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as { recording?: Recording }[]).flatMap(
    ({ recording }) => (recording === undefined ? [] : [recording]),
  ),
);

/** What may stand in the place of any value, in JSON. */
const VALUES = `[null, true, 0, -1, 0.5, 255, 1e9, 1e12, 1e18, -1e300, 1e300, "", "0", "Z", "constructor", "__proto__",
  "toString", "NaN", "1772431200", "9999-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "0000-00-00T00:00:00Z",
  "2026-03-02T06:30:00", "2026-03-02T06:30:00+23:59", "2026-13-45T77:88:99Z", "../../etc/passwd", [], {}, [[]], [null],
  [1, 2], {"length": 5}, {"data": []}, {"__proto__": {"data": [1]}}, {"constructor": 1}]`;

/** Of each dozen of values one is another, gone, twice, or under another name. */
function mutated(value: unknown, random: Random): unknown {
  if (random() < 0.04) return pick(random, JSON.parse(VALUES) as unknown[]);
  if (Array.isArray(value)) {
    const items = value.map((item) => mutated(item, random));
    return random() < 0.1 ? [...items, ...items] : items;
  }
  if (typeof value !== 'object' || value === null) return changed(value, random);
  const entries = Object.entries(value).filter(() => random() > 0.03);
  return JSON.parse(`{${entries.map(([name, of]) => `${JSON.stringify(random() < 0.01 ? '__proto__' : name)}:${JSON.stringify(name === 'provider' ? of : mutated(of, random))}`).join()}}`); // prettier-ignore
}

function changed(value: unknown, random: Random): unknown {
  if (random() > 0.1) return value;
  if (typeof value === 'number') return value * pick(random, [-1, 0, 0.001, 60, 1000, 1e9]);
  return typeof value === 'string' ? value.slice(below(random, value.length + 1)) : value;
}

t.test(
  'what is no recording is refused at a place within it, or read; nothing is thrown beside',
  async (t) => {
    const random = seededRandom(17);
    let read = 0;
    for (let draw = 0; draw < 6_000; draw++) {
      const recording = mutated(pick(random, RECORDINGS), random) as Recording;
      if (typeof recording !== 'object' || recording === null || Array.isArray(recording)) continue;
      const sent = JSON.stringify(recording);
      try {
        const { session, left } = readRecording(recording);
        read++;
        const numbers = Object.values(session).flat().filter((value) => typeof value === 'number'); // prettier-ignore
        if (!numbers.every(Number.isFinite)) t.fail(`a number that is none: ${sent}`);
        if (left.length > 51) t.fail(`${left.length} left: ${sent}`);
      } catch (error) {
        const problem = recordingProblem(error);
        if (problem === undefined) t.fail(`${String((error as Error).stack)}: ${sent}`);
      }
    }
    t.ok(read > 500, `${read} were read all the same`);
  },
);

t.test('each provider refuses what is not its answer', async (t) => {
  for (const provider of PROVIDERS)
    for (const name of ['sleep', 'summary', 'export', 'records', 'stages'])
      for (const value of [1, 'text', true, { a: 1 }, [[[]]]])
        try {
          readRecording({ provider, [name]: value });
          t.fail(`${provider}: ${name} ${JSON.stringify(value)} was read`);
        } catch (error) {
          if (recordingProblem(error) === undefined) t.fail(`${provider}.${name}: ${String(error)}`);
        }
  t.pass();
});
