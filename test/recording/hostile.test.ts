import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Recording } from '#adapters/recording.js';
import type { RecordingOutcome } from '#acuity/recording/readRecording.js';
import { RecordingReader, type RecordingResult } from '#acuity/recording/recordingReader.js';
import { REPOSITORY } from '../fixtures/repository.js';

/** Recordings up to the body limit that want time, memory or the whole reader: each is read or refused. */

const EXAMPLES = JSON.parse(readFileSync(join(REPOSITORY, 'assets/try/recordings.json'), 'utf8')) as Readonly<
  Record<string, Recording>
>;

const FROM_MS = Date.parse('2026-03-01T22:00:00Z');
const iso = (ms: number): string => new Date(ms).toISOString();
const many = <Of>(count: number, make: (index: number) => Of): Of[] =>
  Array.from({ length: count }, (_, index) => make(index));
const text = (recording: object): string => JSON.stringify({ at: '2026-03-02T06:30:00Z', ...recording });
const oura = (sleep: string): string => `{"provider":"oura","sleep":${sleep}}`;

/** How the archive of Fitbit writes a time. */
function fitbitTime(ms: number): string {
  const [, year = '', month = '', day = '', clock = ''] =
    /^\d\d(\d\d)-(\d\d)-(\d\d)T([\d:]{8})/.exec(iso(ms)) ?? [];
  return `${month}/${day}/${year} ${clock}`;
}

type Kind = RecordingOutcome['kind'];

const slept = { start_time: '2026-03-01T23:00:00', end_time: '2026-03-02T07:00:00' };
const hrSamples = many(40_000, (index) => ({
  timestamp: iso(FROM_MS + 3_600_000 + 700 * index).slice(0, 19),
  bpm: 55,
}));
const RECORDINGS: Readonly<Record<string, readonly [text: string, kind: Kind, told?: RegExp]>> = {
  'a day of heart rate every five seconds, beyond the bounds of a body': [
    text({
      ...EXAMPLES['fitbit_archive'],
      heart_rate: many(17_280, (index) => ({
        dateTime: fitbitTime(FROM_MS - 16 * 3_600_000 + 5_000 * index),
        value: { bpm: 55 + (index % 9), confidence: 3 },
      })),
    }),
    'read',
  ],
  '40,000 local times in a zone': [
    text({
      provider: 'terra',
      zone: 'Europe/Berlin',
      sleep: { data: [{ metadata: slept, heart_rate_data: { detailed: { hr_samples: hrSamples } } }] },
    }),
    'read',
  ],
  '40,000 intervals of a night': [
    text({
      provider: 'intervals',
      stages: many(40_000, (index) => ({
        stage: index % 2 === 0 ? 'light' : 'deep',
        from: iso(FROM_MS + 700 * index),
        to: iso(FROM_MS + 700 * index + 700),
      })),
    }),
    'read',
  ],
  '30,000 sleeps in a night': [
    text({
      provider: 'oura',
      sleep: {
        data: many(30_000, (index) => ({
          type: 'sleep',
          bedtime_start: iso(FROM_MS + 900 * index),
          bedtime_end: iso(FROM_MS + 900 * index + 800),
        })),
      },
    }),
    'refused',
  ],
  intervals: [`{"provider":"intervals","stages":[${'{},'.repeat(999_999)}{}]}`, 'refused', /200000 objects/],
  levels: [oura('['.repeat(2_000_000) + ']'.repeat(2_000_000)), 'refused', /64 levels/],
  numbers: [oura(`[${'1,'.repeat(2_000_000)}1]`), 'refused', /400000 values/],
  'as many numbers as may be': [
    text({ ...EXAMPLES['oura'], heart_rate: { items: many(399_000, (index) => 50 + (index % 9)) } }),
    'refused',
    /heart_rate/,
  ],
  strings: [oura(`[${'"a",'.repeat(399_000)}"a"]`), 'refused'],
  names: [oura(`{${many(290_000, (index) => `"k${index}":"x"`).join()}}`), 'refused'],
  objects: [oura(`{"data":[${'{},'.repeat(199_000)}{}]}`), 'refused'],
  'a long name': [oura(`{"${'n'.repeat(2_000_000)}":1}`), 'refused'],
  'a long unknown field': [text({ ...EXAMPLES['oura'], ['n'.repeat(2_000_000)]: 1 }), 'read'],
  'the year 9999': [text(EXAMPLES['oura'] ?? {}).replaceAll('2026-', '9999-'), 'refused'],
  prototypes: [
    '{"__proto__":{"provider":"whoop"},"constructor":1,"provider":"oura","sleep":{"__proto__":[],"data":[{"__proto__":{"bedtime_start":1}}]}}',
    'refused',
  ],
  'a zone that is a path': [text({ ...EXAMPLES['intervals'], zone: '../../../etc/passwd' }), 'refused'],
  'a long zone': [text({ ...EXAMPLES['intervals'], zone: 'Z'.repeat(4_000_000) }), 'refused'],
  'a long time': [text({ ...EXAMPLES['oura'], at: '2'.repeat(4_000_000) }), 'refused'],
};

/** Longer answers would cost more than they tell. */
const TOLD_MAX = 100_000;

const alive = setInterval(() => undefined, 1_000); // a reader keeps no process
const lost: Error[] = [];
const reader = await new Promise<RecordingReader>((resolve) => {
  const limits = { daySamplesMax: 7_200, nightSamplesMax: 43_200 };
  const onLost = (reason: Error): void => void lost.push(reason);
  const starting: RecordingReader = new RecordingReader(
    { limits },
    { onReady: () => resolve(starting), onLost },
  );
});
t.teardown(() => {
  clearInterval(alive);
  reader.end();
});

for (const [name, [recording, kind, told]] of Object.entries(RECORDINGS)) {
  t.test(name, async (t) => {
    const body = Buffer.from(`{"current_session":{"recording":${recording}}}`);
    const result = await new Promise<RecordingResult>((resolve) => reader.read(body, resolve));
    if (result instanceof Error) throw result;
    t.equal(result.kind, kind);
    const answered = JSON.stringify({ ...result, body: undefined });
    t.ok(answered.length < TOLD_MAX, `${answered.length} characters`);
    if (told !== undefined) t.match(answered, told);
  });
}

t.test('the reader has read them all', async (t) => t.strictSame([reader.isOver, lost], [false, []]));
