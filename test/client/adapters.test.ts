import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import * as adapters from '#acuity/client/adapters.js';
import { UnitError } from '#acuity/client/unitChecks.js';
import { REPOSITORY } from '../fixtures/repository.js';

/** The cases of packages/cases/adapters, which every client passes: what a provider sent, and the session of it. */
const FOLDER = join(REPOSITORY, 'packages/cases/adapters');

interface Case {
  readonly name: string;
  readonly trap?: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expect: Partial<adapters.Adapted> & { readonly error?: string; readonly has?: string };
}

type Adapter = (input: Case['input']) => adapters.Adapted;

const ADAPTERS = adapters as unknown as Readonly<Record<string, Adapter>>;
const ERRORS: Readonly<Record<string, new (...args: never[]) => Error>> = {
  AdapterError: adapters.AdapterError,
  UnitError,
  Error,
};

const providers = readdirSync(FOLDER).map((file) => file.replace('.json', ''));

t.test('every provider has cases, and every file of cases its provider', async (t) => {
  const names = providers.map((provider) => `from${provider.charAt(0).toUpperCase()}${provider.slice(1)}`);
  const functions = Object.keys(ADAPTERS).filter((name) => name.startsWith('from'));
  t.strictSame(names.toSorted(), functions.toSorted());
});

for (const provider of providers) {
  t.test(provider, async (t) => {
    const adapter = ADAPTERS[`from${provider.charAt(0).toUpperCase()}${provider.slice(1)}`];
    if (adapter === undefined) return;
    for (const { name, trap, input, expect } of casesOf(provider)) {
      await t.test(trap === undefined ? name : `${name} (${trap})`, async (t) => {
        if (expect.error === undefined) {
          t.strictSame(adapter(input), expect);
          return;
        }
        const caught = thrownBy(() => adapter(input));
        t.ok(caught instanceof (ERRORS[expect.error] ?? Error), String(caught));
        t.ok(String(caught).includes(expect.has ?? ''), String(caught));
        if (caught instanceof adapters.AdapterError) t.ok(caught.message.startsWith(`${caught.field}: `));
      });
    }
  });
}

t.test('a time without an offset is in the zone of the person', async (t) => {
  for (const provider of providers) {
    const adapter = ADAPTERS[`from${provider.charAt(0).toUpperCase()}${provider.slice(1)}`];
    for (const { name, input, expect } of casesOf(provider)) {
      if (adapter === undefined || expect.error !== undefined || input['zone'] !== undefined) continue;
      const { session, sleep } = adapter(withoutOffsets(input));
      t.strictSame(
        { session, sleep },
        { session: expect.session, sleep: expect.sleep },
        `${provider}: ${name}`,
      );
    }
  }
});

const WRITTEN = /(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(?:Z|([+-]\d\d):?(\d\d))(?=\\?")/g;

/** The same moments without offsets, and their zone; in UTC where the offsets differ. */
function withoutOffsets({ at, ...input }: Case['input']): Case['input'] {
  const sent = JSON.stringify(input);
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
  return { ...(JSON.parse(text) as Case['input']), ...(at !== undefined && { at }), zone };
}

t.test('what was sent stays as it was', async (t) => {
  const [first] = casesOf('terra');
  const before = JSON.stringify(first?.input);
  adapters.fromTerra(first?.input ?? {});
  t.equal(JSON.stringify(first?.input), before);
});

t.test('no error holds a value', async (t) => {
  for (const provider of providers) {
    const adapter = ADAPTERS[`from${provider.charAt(0).toUpperCase()}${provider.slice(1)}`];
    for (const { name, input, expect } of casesOf(provider)) {
      if (expect.error === undefined || adapter === undefined) continue;
      const message = String(thrownBy(() => adapter(input)));
      const told = valuesOf(input).filter((value) => message.includes(value));
      t.strictSame(told, [], `${provider}: ${name}`);
    }
  }
});

/** Numbers and times within what was sent, as text; of few digits they might be an index or a limit. */
function valuesOf(sent: unknown): string[] {
  if (typeof sent === 'object' && sent !== null) return Object.values(sent).flatMap(valuesOf);
  const text = String(sent);
  return /\d/.test(text) && text.length >= 4 ? [text] : [];
}

function casesOf(provider: string): readonly Case[] {
  return JSON.parse(readFileSync(join(FOLDER, `${provider}.json`), 'utf8')) as Case[];
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
