import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { digestOf, isWellFormed } from '#acuity/auth/key.js';
import { UsageFiles } from '#acuity/auth/file/fileCounts.js';
import { placeOf } from '#acuity/auth/location.js';
import { commanded } from '../fixtures/lake.js';
import { manualClock } from '../fixtures/manualClock.js';
import { issueFirstDemoKey, registerKeys, type KeyView } from '#acuity/commands/keys.js';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2030, 0, 1);

type Issued = KeyView & { readonly key: string };

/** An operator at one key store. */
function operatorAt(t: Test, folder: string, location = `file:${join(folder, 'keys.json')}`) {
  const clock = manualClock(NOW_MS);
  const run = (...argv: string[]) =>
    commanded(t, (program) => registerKeys(program, () => location, clock), ['keys', ...argv]);
  const json = async <T>(...argv: string[]): Promise<T> => {
    const { stdout, said, code } = await run(...argv, '--json');
    if (code !== 0) throw new Error(said);
    return JSON.parse(stdout) as T;
  };
  const list = async () => (await json<{ keys: KeyView[] }>('list')).keys;
  return { clock, location, run, json, list };
}

t.test('issue prints the key once, and stores it nowhere', async (t) => {
  const folder = t.testdir();
  const operator = operatorAt(t, folder);
  const { stdout } = await operator.run('issue', '--kind', 'demo', '--label', 'for a test');
  const [key = ''] = /sk_demo_\w+/.exec(stdout) ?? [];
  t.ok(isWellFormed(key));
  t.match(stdout, /2030-04-01T00:00:00\.000Z/);
  const file = await readFile(join(folder, 'keys.json'), 'utf8');
  t.notOk(file.includes(key.slice(8, 40)));
  t.match(file, digestOf(key).toString('base64url'));
  const { stdout: listed } = await operator.run('list');
  t.match(listed, /for a test/);
  t.notOk(listed.includes(key.slice(8, 40)));
  t.notOk(listed.includes(digestOf(key).toString('base64url')));
});

t.test('each command names its store, and a new one is told as new', async (t) => {
  const folder = t.testdir();
  const operator = operatorAt(t, folder);
  const place = `key store: file:${folder}/keys.json`;
  const early = await operator.run('list');
  t.strictSame([early.code, early.stdout], [1, '']);
  t.match(early.said, /^error: there is no key store .* is new: no server reads from it yet.*\n$/);
  const issued = await operator.run('issue', '--kind', 'demo');
  t.match(issued.said, `${place} is new: no server reads from it yet`);
  t.equal((await operator.run('list')).said, `${place}\n`);
  t.equal(placeOf('redis://me:secret@host:7000/2'), 'redis://host:7000/2');
});

t.test('issue takes limits and an end', async (t) => {
  for (const [flags, view] of [
    ['', { ratePerS: 10, dailyMax: 1000, state: 'valid' }],
    ['--kind live', { ratePerS: 500, dailyMax: null, expiresAt: null }],
    ['--rate 3 --daily 7', { ratePerS: 3, dailyMax: 7 }],
    ['--rate unlimited --daily unlimited', { ratePerS: null, dailyMax: null }],
    ['--expires 2031-02-03', { expiresAt: '2031-02-03T00:00:00.000Z' }],
    ['--expires 2031-02-03T04:05:06+02:00', { expiresAt: '2031-02-03T02:05:06.000Z' }],
    ['--expires 2030-01-01', { expiresAt: '2030-01-01T00:00:00.000Z', state: 'expired' }],
    ['--expires 2030-01-01T00:00:00.001Z', { state: 'valid' }],
    ['--expires 2001-01-01', { expiresAt: '2001-01-01T00:00:00.000Z', state: 'expired' }],
  ] as const) {
    const operator = operatorAt(t, t.testdir());
    t.match(await operator.json('issue', '--kind', 'demo', ...flags.split(' ').filter(Boolean)), view, flags);
    t.match(await operator.list(), [view]);
  }
});

t.test('renew gives 90 days from now, rotate another key in its place, revoke is for good', async (t) => {
  const operator = operatorAt(t, t.testdir());
  const { id, key } = await operator.json<Issued>('issue', '--kind', 'demo', '--label', 'x', '--rate', '3');
  operator.clock.advance(91 * DAY_MS);
  t.match(await operator.list(), [{ id, state: 'expired' }]);
  const view = await operator.json<KeyView>('renew', id);
  t.match(view, { id, state: 'valid', expiresAt: new Date(NOW_MS + 181 * DAY_MS).toISOString() });
  t.strictSame(await operator.list(), [view]);
  const next = await operator.json<Issued>('rotate', id);
  t.match(next, { kind: 'demo', label: 'x', ratePerS: 3, key: /^sk_demo_/, state: 'valid' });
  t.not(next.key, key);
  const revoked = { id, state: 'revoked' };
  t.match(await operator.list(), [revoked, { id: next.id, state: 'valid' }]);
  t.match(await operator.json('revoke', next.id), { id: next.id, state: 'revoked' });
  for (const command of ['renew', 'rotate'])
    t.match(await operator.run(command, next.id), { code: 1, said: /^error: key .* is revoked .*\n$/ });
  t.match(await operator.list(), [revoked, { id: next.id, state: 'revoked' }]);
});

t.test('of a live key the successor has the end; one without an end needs no renewal', async (t) => {
  const operator = operatorAt(t, t.testdir());
  const endless = await operator.json<Issued>('issue', '--kind', 'live');
  t.match(await operator.run('renew', endless.id), { code: 1, said: /never expires/ });
  const { id, expiresAt } = await operator.json<Issued>('issue', '--kind', 'live', '--expires', '2030-02-03');
  t.match(await operator.json('rotate', id), { kind: 'live', expiresAt });
  const late = await operator.json<Issued>('issue', '--kind', 'live', '--expires', '2030-02-03');
  operator.clock.advance(40 * DAY_MS);
  t.match(await operator.run('rotate', late.id), { code: 1, said: /expired/ });
});

const misuses: readonly (readonly [argv: string, reason: RegExp])[] = [
  ['issue', /--kind/],
  ['issue --kind test', /demo, live/],
  ['issue --kind demo --rate 0', /a whole number, 1 to/],
  ['issue --kind demo --rate 1.5', /a whole number, 1 to/],
  ['issue --kind demo --rate 1000001', /to 1000000/],
  ['issue --kind demo --daily many', /a whole number, 1 to/],
  ['issue --kind demo --daily 2147483648', /to 2147483647/],
  ['issue --kind demo --expires tomorrow', /ISO 8601/],
  ['issue --kind demo --expires 2030-02-30', /ISO 8601/],
  ['issue --kind demo --expires 2030-01-01T25:00', /ISO 8601/],
  ['issue --kind demo --expires 9999-12-31T23:00:00-05:00', /ISO 8601/],
  ['issue --kind demo --label a\nb', /control characters/],
  [`issue --kind demo --label ${'x'.repeat(201)}`, /at most 200/],
  ['issue --kind demo more', /too many arguments/],
  ['renew', /missing required argument/],
  ['renew key_unknown', /no key with that id/],
  ['revoke key_unknown', /no key/],
  ['rotate key_unknown', /no key/],
  ['delete key_unknown', /unknown command/],
];
t.test('misuse is refused in one line', async (t) => {
  const operator = operatorAt(t, t.testdir());
  for (const [argv, reason] of misuses) {
    const { code, stdout, said } = await operator.run(...argv.split(' '));
    t.not(code, 0, argv);
    t.equal(stdout, '');
    t.match(said, reason, argv);
    t.match(said, /^[^\n]+\n$/);
  }
  t.equal((await operator.run('list')).code, 1, 'no store was made');
});

t.test('a key in the place of an id is not repeated', async (t) => {
  const operator = operatorAt(t, t.testdir());
  const { key } = await operator.json<Issued>('issue', '--kind', 'live');
  for (const command of ['renew', 'revoke', 'rotate']) {
    const { code, stdout, said } = await operator.run(command, key);
    t.strictSame([code, stdout], [1, '']);
    t.match(said, /^error: there is no key with that id: .*"acuity keys list" shows, never the key/);
    t.notMatch(said, key.slice(8, 40));
  }
});

t.test('a shared store that is not there is told in one line, without its password', async (t) => {
  const { code, said } = await operatorAt(t, '', 'redis://user:secret@127.0.0.1:1').run('list');
  t.equal(code, 1);
  t.match(
    said,
    /^error: can't reach the key store: connection refused \(ECONNREFUSED\) \(key store: redis:\/\/127\.0\.0\.1:1\)\n$/,
  );
  t.notMatch(said, /secret/);
});

t.test('usage tells the predictions of each key by day', async (t) => {
  const folder = t.testdir();
  const operator = operatorAt(t, folder);
  const [a, b] = [
    await operator.json<Issued>('issue', '--kind', 'live', '--label', 'a'),
    await operator.json<Issued>('issue', '--kind', 'live'),
  ];
  t.equal((await operator.run('usage')).stdout, 'no predictions\n');
  const today = NOW_MS / DAY_MS;
  const usage = new UsageFiles(`${operator.location.slice('file:'.length, -'.json'.length)}.usage.json`);
  await usage.write([{ day: today - 2, used: { [a.id]: 7 } }], today - 2);
  await usage.write([
    { day: today - 1, used: { [a.id]: 3, [b.id]: 4 } },
    { day: today, used: { [a.id]: 5 } },
  ]);
  const row = (day: string, { id, label }: KeyView, predictions: number): object => {
    return { day, id, label, predictions };
  };
  t.strictSame(await operator.json('usage'), { usage: [row('2030-01-01', a, 5)] });
  t.strictSame(await operator.json('usage', '--days', '3'), {
    usage: [
      row('2029-12-30', a, 7),
      row('2029-12-31', b, 4),
      row('2029-12-31', a, 3),
      row('2030-01-01', a, 5),
    ],
  });
  t.match((await operator.run('usage')).stdout, /^DAY +ID +PREDICTIONS +LABEL\n2030-01-01 +key_\w+ +5 +a\n$/);
  for (const days of ['0', '401', '1.5', 'all'])
    t.match(await operator.run('usage', '--days', days), { code: 1, said: /1 to 400/ });
});

t.test('import adds the keys of a file that are not there', async (t) => {
  const folder = t.testdir({ other: {} });
  const [from, into] = [operatorAt(t, folder), operatorAt(t, join(folder, 'other'))];
  const file = join(folder, 'keys.json');
  const refused = await into.run('import', file);
  t.match(refused, { code: 1, said: /^error: the file holds no keys .*\n$/ });
  await from.json('issue', '--kind', 'live');
  t.strictSame(await into.json('import', file), { imported: 1, known: 0 });
  await from.json('issue', '--kind', 'demo');
  t.equal((await into.run('import', file)).stdout, '1 keys imported, 1 were there already\n');
  t.strictSame(await into.list(), await from.list());
});

t.test('the first demo key is issued only where there is no store', async (t) => {
  const operator = operatorAt(t, t.testdir());
  const made = await Promise.all([1, 2, 3].map(() => issueFirstDemoKey(operator.location, operator.clock)));
  const issued = made.filter((key) => key !== undefined);
  t.equal(issued.length, 1);
  t.ok(isWellFormed(issued[0]?.key ?? ''));
  t.match(await operator.list(), [{ id: issued[0]?.id, kind: 'demo', state: 'valid' }]);
  t.equal(await issueFirstDemoKey(operator.location), undefined);
});
