import t from 'tap';
import type { Adapted } from '#adapters/adapt.js';
import {
  PROVIDERS,
  readRecording,
  recordingProblem,
  type Provider,
  type Recording,
  type RecordingProblem,
} from '#adapters/recording.js';
import type { Session } from '#adapters/session.js';
import { casesOf } from '../fixtures/sharedCases.js';

/** The cases of packages/cases/adapters.json: what a provider sent, and the session of it. */
type Expected = Adapted | { readonly error: RecordingProblem };

interface Case {
  readonly name: string;
  readonly trap?: string;
  /** The rule for every provider that it shows. */
  readonly rule?: string;
  readonly recording: Recording;
  readonly person?: Partial<Session>;
  readonly expect: Expected;
}

const OF = new Map(PROVIDERS.map((provider) => [provider, casesOf<Case>('adapters', provider)]));
const ALL = [...OF.values()].flat();

/** What a recording becomes; an error that says nothing of it is thrown. */
function outcomeOf(work: () => Adapted): Expected {
  try {
    return work();
  } catch (error) {
    const problem = recordingProblem(error);
    if (problem === undefined) throw error;
    return { error: problem };
  }
}

for (const [provider, cases] of OF) {
  t.test(provider, async (t) => {
    t.ok(cases.length > 5);
    for (const { name, trap, recording, person, expect } of cases) {
      const before = JSON.stringify(recording);
      t.strictSame(outcomeOf(() => readRecording(recording, person)), expect, trap === undefined ? name : `${name} (${trap})`); // prettier-ignore
      t.equal(JSON.stringify(recording), before, `${name}: what was sent stays as it was`);
    }
  });
}

/** The rules for every provider, and what is told where one has been kept. */
const RULES: Readonly<Record<string, RegExp>> = {
  'not measured': /quarter/,
  uncovered: /more than a tenth/,
  'no REM': /no REM/,
  versions: /changed later|more final/,
  'still going on': /is missing/,
  unreadable: /is missing|no value that is known/,
  'stated awake': /^$/,
  'no sample': /^$/,
  pieces: /^a nap before/,
  series: /^expected/,
  processing: /more final|can be read/,
  tentative: /an earlier night/,
};
const CANNOT = casesOf<never>('adapters', 'cannot') as unknown as Readonly<
  Record<string, Readonly<Record<string, string>> | undefined>
>;

t.test('each rule has a case of each provider, or the provider says why it can have none', async (t) => {
  for (const [provider, cases] of OF) {
    const shown = cases.filter(({ rule }) => rule !== undefined);
    const answered = [...shown.map(({ rule }) => rule), ...Object.keys(CANNOT[provider] ?? {})];
    t.strictSame(new Set(answered), new Set(Object.keys(RULES)), provider);
    for (const { name, rule = '', expect } of shown)
      t.ok('left' in expect && ['', ...expect.left.map(({ why }) => why)].some((why) => RULES[rule]?.test(why)), `${provider}: ${name}`); // prettier-ignore
  }
});

type Json = Readonly<Record<string, unknown>>;

const twice = (own: Json, ring: Json): readonly Json[] => [own, { ...own, ...ring }];
const high = (value: unknown): number => Number(value) + 30;
/** Where samples stand, and each of them beside one of another device, which is higher. */
const RINGS: Readonly<Record<string, readonly [list: RegExp, add: (one: Json) => readonly Json[]]>> = {
  apple_health: [
    /^records$/,
    (one) =>
      /HeartRate|Respiratory/.test(String(one['type']))
        ? twice(one, { sourceName: 'Ring', value: String(high(one['value'])) })
        : [one],
  ],
  flutter_health: [
    /^points$/,
    (one) =>
      /RATE/.test(String(one['type']))
        ? twice(one, { sourceName: 'Ring', value: { numericValue: 90 } })
        : [one],
  ],
  health_auto_export: [
    /^data$/,
    (one) => ('Avg' in one ? twice(one, { source: 'Ring', Avg: high(one['Avg']) }) : [one]),
  ],
  health_connect: [
    /^(sleep|heart_rate)$/,
    (one) => {
      const ofWatch = { ...one, metadata: { dataOrigin: 'watch' } };
      const samples = (one['samples'] ?? []) as readonly Json[];
      const higher = samples.map((sample) => ({ ...sample, beatsPerMinute: 90 }));
      return samples.length === 0
        ? [ofWatch]
        : twice(ofWatch, { metadata: { dataOrigin: 'ring' }, samples: higher });
    },
  ],
  samsung_health: [
    /^heart_rate$/,
    (one) =>
      twice(
        { ...one, 'com.samsung.health.heart_rate.pkg_name': 'com.sec.android.app.shealth' },
        {
          'com.samsung.health.heart_rate.pkg_name': 'ring',
          'com.samsung.health.heart_rate.heart_rate': '90.0',
        },
      ),
  ],
};

t.test('samples of another device beside those of its own are no part of the night', async (t) => {
  for (const [provider, [list, add]] of Object.entries(RINGS)) {
    const [first] = OF.get(provider as Provider) ?? [];
    if (first === undefined || 'error' in first.expect) throw new Error(provider);
    const revived = (key: string, value: unknown): unknown =>
      list.test(key) && Array.isArray(value) ? (value as Json[]).flatMap(add) : value;
    const recording = JSON.parse(JSON.stringify(first.recording), revived) as Recording;
    const { session } = readRecording(recording, first.person);
    t.strictSame(session, first.expect.session, provider);
    t.notSame(recording, first.recording);
  }
});

t.test('a provider that is not read is told its way', async (t) => {
  const ways: Readonly<Record<string, RegExp>> = {
    'Samsung-Health': /it is called samsung_health/,
    'eight sleep': /as intervals/,
    Validic: /passes on/,
    Huawei: /Health Connect/,
    Amazfit: /called zepp/,
    suunto: /as intervals/,
    fitbit: /google_health/,
    none: /^expected one of apple_health, /,
  };
  for (const [provider, way] of Object.entries(ways)) {
    const error = { path: ['provider'], type: 'literal_error', sentence: way };
    const outcome = outcomeOf(() => readRecording({ provider }));
    t.match(outcome, { error });
  }
});

t.test('a time without an offset is in the zone of the person', async (t) => {
  for (const { name, recording, person, expect } of ALL) {
    if ('error' in expect || recording['zone'] !== undefined) continue;
    const { session, sleep } = readRecording(withoutOffsets(recording), person);
    t.strictSame({ session, sleep }, { session: expect.session, sleep: expect.sleep }, name);
  }
});

const WRITTEN = /(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:Z|([+-]\d\d):?(\d\d))(?=\\?")/g;

/** The same moments without offsets, and their zone; in UTC where the offsets differ. */
function withoutOffsets({ at, ...recording }: Recording): Recording {
  const sent = JSON.stringify(recording);
  const offsetOf = (hours: string | undefined, minutes: string) =>
    hours === undefined ? 'Z' : `${hours}:${minutes}`;
  const offsets = new Set(
    [...sent.matchAll(WRITTEN)].map(([, , hours, minutes = '']) => offsetOf(hours, minutes)),
  );
  const [zone = 'Z'] = offsets.size === 1 ? offsets : [];
  const text = sent.replace(WRITTEN, (_, clock: string, hours: string | undefined, minutes: string) => {
    if (offsets.size === 1) return clock;
    return new Date(clock.replace(' ', 'T') + offsetOf(hours, minutes)).toISOString().slice(0, -1);
  });
  return { ...(JSON.parse(text) as Recording), ...(at !== undefined && { at }), zone };
}

t.test('no error holds a value', async (t) => {
  for (const { name, recording, expect } of ALL) {
    if (!('error' in expect)) continue;
    const { path, sentence } = expect.error;
    const told = valuesOf(recording).filter((value) => `${path.join('.')} ${sentence}`.includes(value));
    t.strictSame(told, [], name);
  }
});

/** Numbers and times within what was sent, as text; of few digits they might be an index or a limit. */
function valuesOf(sent: unknown): string[] {
  if (typeof sent === 'object' && sent !== null) return Object.values(sent).flatMap(valuesOf);
  const text = String(sent);
  return /\d/.test(text) && text.length >= 4 ? [text] : [];
}
