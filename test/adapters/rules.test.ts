import t, { type Test } from 'tap';
import { PROVIDERS, readRecording, type Provider, type Recording } from '#adapters/recording.js';
import type { Session } from '#adapters/session.js';
import { casesOf } from '../fixtures/sharedCases.js';
import { textOf } from '../fixtures/repository.js';

/**
 * The rules that hold for every provider, each with a case of each: changes to its first sound night, or why the rule
 * can't apply to it.
 */

type Change = readonly [path: string, value: unknown];
type Found = ReturnType<typeof readRecording>;

const AT = '2026-03-02T06:30:00Z';
const isStaged = ({ deepSleepSeconds, remSleepSeconds, lightSleepSeconds, sleepTimeSeconds }: Session) =>
  [deepSleepSeconds, remSleepSeconds, lightSleepSeconds, sleepTimeSeconds].map((one) => one !== undefined);
const isTold = ({ left }: Found, why: RegExp) => left.some((one) => why.test(one.why));

/** What the changes make of a night, beside the night without them. */
const RULES: Readonly<Record<string, (t: Test, found: Found, night: Found) => void>> = {
  'not measured': (t, found) => {
    t.strictSame(isStaged(found.session), [false, false, false, false]);
    t.ok(isTold(found, /quarter/));
  },
  uncovered: (t, found) => {
    t.equal(found.session.awakeSleepSeconds, undefined);
    t.ok((found.session.sleepTimeSeconds ?? 0) > 20_000);
    t.ok(isTold(found, /more than a tenth/));
  },
  'no REM': (t, found) => {
    const { deepSleepSeconds, remSleepSeconds, lightSleepSeconds, sleepTimeSeconds } = found.session;
    const seconds = [deepSleepSeconds, remSleepSeconds, lightSleepSeconds, sleepTimeSeconds];
    t.strictSame(seconds, [5400, undefined, undefined, 27_000]);
    t.ok(isTold(found, /no REM/));
  },
  versions: (t, found, night) => {
    t.strictSame(found.session, night.session);
    t.ok(isTold(found, /changed later|more final/));
  },
  'still going on': sameNight(/is missing/),
  unreadable: sameNight(/is missing|no value that is known/),
  'stated awake': (t, { session }) => void t.equal(session.awakeSleepSeconds, 1260),
  'no sample': (t, { session }, night) =>
    void t.equal(session.HR_night?.length, (night.session.HR_night?.length ?? 0) - 1),
  pieces: sameNight(/^a nap before/),
};

function sameNight(why: RegExp) {
  return (t: Test, found: Found, night: Found) => {
    t.strictSame(found.session, night.session);
    t.ok(isTold(found, why), JSON.stringify(found.left));
  };
}

type Box = Record<string, unknown>;
const valueAt = (holder: unknown, path: readonly string[]) =>
  path.reduce<unknown>((value, step) => (value as Box)[step], holder);

/** With a change; `{"like": path, …}` is a copy of what stands there, with changes of its own. */
function changed(recording: object, [path, value]: Change): object {
  const steps = path.split('.');
  const copy = structuredClone(recording);
  const holder = valueAt(copy, steps.slice(0, -1)) as Box & unknown[];
  const made = madeOf(recording, value);
  if (Array.isArray(holder) && Number(steps.at(-1)) >= holder.length) holder.push(made);
  else holder[steps.at(-1) ?? ''] = made;
  return copy;
}

function madeOf(recording: object, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => madeOf(recording, one));
  if (typeof value !== 'object' || value === null) return value;
  if (!('like' in value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, madeOf(recording, one)]));
  const { like, ...changes } = value as { readonly like: string };
  const copy = valueAt(recording, like.split('.')) as object;
  return Object.entries(changes).reduce(changed, structuredClone(copy));
}

const CASES = JSON.parse(textOf('packages/cases/rules.json')) as Readonly<
  Record<Provider, Readonly<Record<string, string | readonly Change[]>>>
>;

for (const provider of PROVIDERS) {
  t.test(provider, async (t) => {
    const cases = casesOf<{ readonly recording: Recording; readonly expect: object }>('adapters', provider);
    const { recording = { provider } } = cases.find(({ expect }) => !('error' in expect)) ?? {};
    const base = { ...recording, at: AT };
    t.strictSame(
      Object.keys(CASES[provider] ?? {}).sort(),
      Object.keys(RULES).sort(),
      'each rule is answered',
    );
    for (const [rule, changes] of Object.entries(CASES[provider] ?? {}))
      if (typeof changes !== 'string')
        t.test(rule, async (t) => {
          RULES[rule]?.(t, readRecording(changes.reduce(changed, base) as Recording), readRecording(base));
        });
  });
}
