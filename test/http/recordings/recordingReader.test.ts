import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import t, { type Test } from 'tap';
import type { Recording } from '#adapters/recording.js';
import type { RecordingOutcome } from '#acuity/read/readRecording.js';
import { RecordingReader, type RecordingResult } from '#acuity/http/recordings/recordingReader.js';
import { longRecording } from '../../fixtures/longRecordings.js';
import { textOf } from '../../fixtures/repository.js';
import { running } from '../../fixtures/scripts.js';
import { skipElsewhere as skip } from '../../fixtures/stops.js';
import { until } from '../../fixtures/until.js';

/** A reader of recordings as a process: what it has, what ends it, and what that leaves. No bound on values holds for its words. */

const ENTRY = new URL('../../fixtures/hostileReader.js', import.meta.url);
const MEBIBYTE = 2 ** 20;
const EXAMPLES = JSON.parse(textOf('assets/try/recordings.json')) as Readonly<Record<string, Recording>>;
const SOUND = JSON.stringify({ current_session: { recording: EXAMPLES['oura'] } });

/** A reader; by default one that does what a word says. */
async function opened(t: Test, options: { readonly entry?: URL } = { entry: ENTRY }) {
  const lost: string[] = [];
  const alive = setInterval(() => undefined, 1_000); // a reader keeps no process
  const reader = await new Promise<RecordingReader>((resolve, reject) => {
    const onLost = (reason: Error): void => {
      lost.push(reason.message);
      reject(reason);
    };
    const starting: RecordingReader = new RecordingReader(
      { limits: { daySamplesMax: 7_200, nightSamplesMax: 43_200 }, ...options },
      { onReady: () => resolve(starting), onLost },
    );
  });
  t.teardown(() => {
    clearInterval(alive);
    reader.end();
  });
  const read = (text: string): Promise<RecordingResult> =>
    new Promise((resolve) => reader.read(Buffer.from(text), resolve));
  const about = (name: string): string => readFileSync(`/proc/${reader.pid}/${name}`, 'latin1');
  return { reader, read, lost, about };
}

const findingOf = (result: RecordingResult): unknown =>
  'problem' in result && result.problem.kind === 'unprocessable' ? result.problem.findings[0] : result;

/** The most memory that the process held while it read. */
async function residentWhile(result: Promise<unknown>, about: (name: string) => string): Promise<number> {
  let most = 0;
  let isOver = false;
  void result.finally(() => (isOver = true));
  await until(() => {
    try {
      const [, kibibytes] = /^VmHWM:\s*(\d+)/m.exec(about('status')) ?? [];
      if (kibibytes !== undefined) most = Math.max(most, Number(kibibytes) * 1024);
    } catch {
      return true; // it has ended
    }
    return isOver;
  });
  return most;
}

t.test('a memory that is exhausted ends it, and the recording is told why', { skip }, async (t) => {
  const bodies = { buffers: 'buffers', heap: longRecording('oura', 1_900_000) };
  for (const [name, body] of Object.entries(bodies)) {
    const { read, about, lost } = await opened(t);
    const result = read(body);
    const most = await residentWhile(result, about);
    const loc = ['body', 'current_session', 'recording'];
    t.match(findingOf(await result), { type: 'too_long', loc }, name);
    t.strictSame(lost, ['its memory was exhausted']);
    t.ok(most < 512 * MEBIBYTE, `${name}: ${Math.round(most / MEBIBYTE)} MB`);
  }
});

t.test('what ends it otherwise is an error, and no word of the caller', async (t) => {
  for (const [act, told] of [
    ['killed', 'it ended with SIGKILL'],
    ['leave', 'it ended with 3'],
  ] as const) {
    const { read, lost } = await opened(t);
    t.match(await read(act), { message: told });
    t.strictSame(lost, [told]);
  }
  const { read, reader, lost } = await opened(t);
  const failed = await read('fail');
  if (!(failed instanceof Error)) return t.fail(failed.kind);
  t.equal(failed.message, 'TypeError while a recording was read');
  t.notMatch(failed.stack, 'words');
  t.match(await read(SOUND), { kind: 'read' }, 'a mistake of ours ends no reader');
  t.strictSame([reader.isOver, lost], [false, []]);
});

t.test('it has an environment, files and rights of no use to anyone', { skip }, async (t) => {
  const { reader, read, about } = await opened(t);
  t.equal(about('environ'), '');
  const files = readdirSync(`/proc/${reader.pid}/fd`).map((file) =>
    readlinkSync(`/proc/${reader.pid}/fd/${file}`),
  );
  const sockets = files.filter((target) => target.startsWith('socket:'));
  t.equal(sockets.length, 2, 'its pipe, and what it says when it ends');
  // Node's own: what its threads wake each other by.
  const others = files.filter((target) => !/^(socket:|anon_inode:|pipe:|\/dev\/null$)/.test(target));
  t.strictSame(others, []);
  const own = new Set(readdirSync('/proc/self/fd').map((file) => linkOf(`/proc/self/fd/${file}`)));
  const shared = files.filter((target) => target.startsWith('pipe:') && own.has(target));
  t.strictSame(shared, [], 'nothing of its parent');
  t.equal(about('oom_score_adj').trim(), '1000');
  t.equal(Number.parseInt(about('coredump_filter'), 16), 0);
  for (const thread of readdirSync(`/proc/${reader.pid}/task`))
    t.equal(getPriority(Number(thread)), Math.min(getPriority() + 5, 19));
  t.match(await read('reach'), { kind: 'absent' }, 'nothing forbidden was reached');
});

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

t.test('no signal but SIGKILL ends it, none opens its inspector', { skip }, async (t) => {
  const { reader, read, about } = await opened(t);
  const reading = read('pause');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const)
    process.kill(reader.pid ?? NaN, signal);
  t.match(await reading, { kind: 'absent' });
  t.match(await read(SOUND), { kind: 'read' });
  const sockets = readdirSync(`/proc/${reader.pid}/fd`).filter((file) =>
    linkOf(`/proc/${reader.pid}/fd/${file}`).startsWith('socket:'),
  );
  t.equal(sockets.length, 2, 'none listens');
  t.match(about('comm'), /\S/);
});

t.test('a body of any length goes through, and comes back', async (t) => {
  const { read } = await opened(t);
  for (const length of [0, 1, 131_071, 131_072, 131_073, 4_000_000]) {
    const beside = 'é'.repeat(length);
    const body = `{"current_session":{"recording":${JSON.stringify(EXAMPLES['oura'])}},"beside":"${beside}"}`;
    const result = await read(body);
    if (!('body' in result)) return t.fail(`${length}`);
    const { beside: came } = JSON.parse(Buffer.from(result.body).toString()) as { readonly beside: string };
    t.ok(came === beside, `${length}`);
  }
});

/** A process with a reader that loops, and which says the reader's pid. */
const PARENT = `
import { RecordingReader } from '#acuity/http/recordings/recordingReader.js';
const reader = new RecordingReader(
  { limits: { daySamplesMax: 10, nightSamplesMax: 10 }, entry: new URL(process.argv[1]) },
  {
    onReady() {
      reader.read(Buffer.from('loop'), () => undefined);
      console.log(reader.pid);
    },
    onLost() {},
  },
);
setInterval(() => undefined, 1000);
`;

t.test('it goes with its parent, even from a loop', { skip }, async (t) => {
  const parent = running(t, [process.execPath, '--input-type=module', '--eval', PARENT, ENTRY.href]);
  const pid = await parent.says(/^\d+(?=\n)/);
  t.ok(existsSync(`/proc/${pid}`));
  parent.child.kill('SIGKILL');
  await until(() => !existsSync(`/proc/${pid}`) || /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1')));
});

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

t.test('recordings that want time, memory or the whole reader are read or refused', async (t) => {
  const { reader, read, lost } = await opened(t, {});
  for (const [name, [recording, kind, told = /^/]] of Object.entries(RECORDINGS)) {
    const result = await read(`{"current_session":{"recording":${recording}}}`);
    if (result instanceof Error) throw result;
    t.equal(result.kind, kind, name);
    const answered = JSON.stringify({ ...result, body: undefined });
    t.ok(answered.length < TOLD_MAX, `${name}: ${answered.length} characters`);
    t.match(answered, told, name);
  }
  t.strictSame([reader.isOver, lost], [false, []]);
});
