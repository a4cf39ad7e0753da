import t from 'tap';
import { PROVIDERS, type Recording } from '#adapters/recording.js';
import { seededRandom, type Random } from '#acuity/base/random.js';
import { createReader, isBodyProblem } from '#acuity/read/read.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { readRecordingOf } from '#acuity/read/readRecording.js';
import { casesOf } from '../fixtures/sharedCases.js';

const MUTATIONS = Number(process.env['MUTATIONS'] ?? 20_000);
const LIMITS = { daySamplesMax: 7_200, nightSamplesMax: 43_200 };

const RECORDINGS = PROVIDERS.flatMap((provider) =>
  casesOf<{ readonly recording: Recording }>('adapters', provider).map(({ recording }) => recording),
);

const parser = new WasmParser(LIMITS);
const readRequest = createReader(LIMITS);

const ODD: readonly unknown[] = [
  ...'0 -1 1 0.5 255 1e9 1e15 -1e15 1e308 1772402400 1772402400000 253402300799 8.64e15'
    .split(' ')
    .map(Number),
  ...'0 -1 1e99 9999-12-31T23:59:59Z 0000-01-01T00:00:00Z +275760-09-13T00:00:00Z 24:00 2026-02-30'.split(
    ' ',
  ),
  ...'2026-03-02T06:30 2026-03-29T02:30:00 2026-03-02T06:30:00+99:99 Europe/Berlin'.split(' '),
  ...'../../etc/passwd Etc/GMT+25 +14:00 -00:00 PT8H'.split(' '),
  ...PROVIDERS,
  true,
  null,
  [],
  {},
  [[null]],
  'x'.repeat(5_000),
  // What no conversion makes a text or a number of.
  { toString: null },
  { valueOf: null, toString: null },
  [{ toString: null }],
  { length: 1e9 },
  ...['{"__proto__":null}', '{"constructor":{"name":1}}', '{"toJSON":1}'].map(
    (text) => JSON.parse(text) as unknown,
  ),
];

type Container = Record<string | number, unknown>;

/** One value, anywhere in it, is exchanged, removed, doubled or moved. */
function mutate(recording: Recording, random: Random): Recording {
  const mutated = structuredClone(recording) as Container;
  const places: (readonly [Container, string])[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value)) {
      places.push([value as Container, key]);
      walk((value as Container)[key]);
    }
  };
  walk(mutated);
  const pick = <Of>(list: readonly Of[]): Of | undefined => list[Math.floor(random() * list.length)];
  const [holder, key] = pick(places) ?? [mutated, 'provider'];
  const kind = random();
  if (kind < 0.6) holder[key] = structuredClone(pick(ODD));
  else if (kind < 0.7) delete holder[key];
  else if (kind < 0.85) {
    const [other, name] = pick(places) ?? [mutated, 'sleep'];
    holder[key] = structuredClone(other[name]);
  } else if (Array.isArray(holder)) holder.push(...(structuredClone(holder) as unknown[]));
  else holder[key] = [holder[key], holder[key]];
  return mutated;
}

t.test('a mutated recording is read or refused, and never an error of ours', async (t) => {
  const random = seededRandom(57);
  const outcomes = { read: 0, refused: 0, absent: 0 };
  let scored = 0;
  for (let count = 0; count < MUTATIONS; count++) {
    const original = RECORDINGS[count % RECORDINGS.length];
    let recording: Recording = original ?? { provider: 'oura' };
    for (let times = random() * 4; times > 0; times--) recording = mutate(recording, random);
    const body = JSON.stringify({ history: '', current_session: { age: 40, recording } });
    try {
      const outcome = readRecordingOf(Buffer.from(body), parser);
      outcomes[outcome.kind]++;
      if (outcome.kind === 'refused' && outcome.problem.kind === 'unprocessable') {
        for (const { loc } of outcome.problem.findings)
          t.strictSame(loc.slice(0, 3), ['body', 'current_session', 'recording']);
      }
      if (outcome.kind !== 'read') continue;
      const request = readRequest(outcome.body);
      if (!isBodyProblem(request)) scored++;
    } catch (error) {
      t.fail(`seed 57, ${count}: ${String(error)}`, { body: body.slice(0, 2_000) });
      return;
    }
  }
  t.equal(outcomes.absent, 0);
  t.ok(scored > MUTATIONS / 10 && outcomes.refused > MUTATIONS / 10, JSON.stringify(outcomes));
});
