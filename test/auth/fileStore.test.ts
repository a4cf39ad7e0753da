import { spawnSync } from 'node:child_process';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { FileKeyStore } from '#acuity/auth/fileStore.js';
import { issue } from '#acuity/auth/lifecycle.js';
import { openStores, storesAt } from '#acuity/auth/location.js';
import type { KeyRecord } from '#acuity/auth/record.js';
import { until } from '../fixtures/until.js';

function newRecord(label = ''): KeyRecord {
  return issue({ kind: 'demo', label }, Date.UTC(2030)).record;
}

function labels(records: readonly KeyRecord[]): string[] {
  return records.map(({ label }) => label).toSorted();
}

t.test('only its owner can read the file, and nothing lies about it', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'keys.json');
  const store = new FileKeyStore(path);
  await store.insert(newRecord());
  t.equal((await stat(path)).mode & 0o777, 0o600);
  await chmod(path, 0o644);
  await store.insert(newRecord());
  t.equal((await stat(path)).mode & 0o777, 0o600);
  t.strictSame(await readdir(folder), ['keys.json']);
});

t.test('the file keeps its owner when root writes it', { skip: process.geteuid?.() !== 0 }, async (t) => {
  const path = join(t.testdir(), 'keys.json');
  const store = new FileKeyStore(path);
  await store.insert(newRecord());
  await chown(path, 12_345, 23_456);
  await store.insert(newRecord());
  t.match(await stat(path), { uid: 12_345, gid: 23_456 });
});

t.test('a link to the file stays a link', async (t) => {
  const folder = t.testdir({ elsewhere: {} });
  const path = join(folder, 'keys.json');
  await new FileKeyStore(join(folder, 'elsewhere', 'real.json')).insert(newRecord('a'));
  await symlink('elsewhere/real.json', path);
  await new FileKeyStore(path).insert(newRecord('b'));
  t.ok((await lstat(path)).isSymbolicLink());
  t.strictSame(labels(await new FileKeyStore(join(folder, 'elsewhere', 'real.json')).list()), ['a', 'b']);
});

t.test('an existing store without keys is no place for a first one', async (t) => {
  const path = join(t.testdir({ 'keys.json': '{"version":1,"keys":[]}' }), 'keys.json');
  t.equal(await new FileKeyStore(path).insertFirst(newRecord()), false);
});

const record = newRecord('a-label-not-to-be-quoted');
const damaged: Record<string, string> = {
  empty: '',
  truncated: JSON.stringify({ version: 1, keys: [record] }).slice(0, -20),
  'of another version': JSON.stringify({ version: 2, keys: [] }),
  'something else': '[]',
  'with a record that lacks a field': JSON.stringify({
    version: 1,
    keys: [{ ...record, digest: undefined }],
  }),
  'with a digest that is none': JSON.stringify({ version: 1, keys: [{ ...record, digest: 'abc' }] }),
  'with a rate of zero': JSON.stringify({ version: 1, keys: [{ ...record, ratePerS: 0 }] }),
  'with a key twice': JSON.stringify({ version: 1, keys: [record, record] }),
};
for (const [name, text] of Object.entries(damaged)) {
  t.test(`a file ${name} is refused, and never written over`, async (t) => {
    const path = join(t.testdir({ 'keys.json': text }), 'keys.json');
    const store = new FileKeyStore(path);
    const refusal = {
      name: 'KeyStoreError',
      message: /keys\.json is not a key store of version 1: (?!.*label-not)/,
    };
    await t.rejects(store.list(), refusal);
    await t.rejects(store.insert(newRecord()), refusal);
    await t.rejects(store.insertFirst(newRecord()), refusal);
    t.equal(await readFile(path, 'utf8'), text);
  });
}

t.test('a pipe in the place of the file is refused, and nothing waits for it', async (t) => {
  const path = join(t.testdir(), 'keys.json');
  spawnSync('mkfifo', [path]);
  const store = new FileKeyStore(path);
  const refusal = { name: 'KeyStoreError', message: /keys\.json: it is not a regular file$/ };
  await t.rejects(store.list(), refusal);
  await t.rejects(store.insert(newRecord()), refusal);
});

t.test('a failed read or write is reported in one line', async (t) => {
  const folder = t.testdir({ file: '' });
  const store = new FileKeyStore(join(folder, 'file', 'keys.json'));
  await t.rejects(store.list(), {
    name: 'KeyStoreError',
    message: /^can't read .*keys\.json: not a directory \(ENOTDIR\)$/,
  });
  await t.rejects(store.insert(newRecord()), {
    name: 'KeyStoreError',
    message: /^can't write .*: not a directory \(ENOTDIR\)$/,
  });
});

t.test('file:PATH leads to a key store', async (t) => {
  const folder = t.testdir();
  for (const [prefix, name] of [
    ['file:', 'a'],
    ['file://', 'b'],
  ] as const) {
    await mkdir(join(folder, name));
    const { keys } = storesAt(`${prefix}${join(folder, name, 'keys.json')}`);
    await keys.insert(newRecord());
    t.strictSame(await readdir(join(folder, name)), ['keys.json']);
  }
});

t.test('other locations are refused without being quoted', async (t) => {
  for (const location of ['', 'keys.json', 'file:', 'file://host/keys.json', 'http://secret', 'redis:secret'])
    t.throws(() => storesAt(location), { name: 'KeyStoreError', message: /^(?!.*secret)/ }, location);
  for (const location of ['redis://u:secret@[h', 'rediss://:secret@h:port/', 'redis://secret@h/x'])
    await t.rejects(openStores(location), { name: 'KeyStoreError', message: /^(?!.*secret)/ }, location);
});

/** Up to the rename the old store stands, from then on the new one. */
const crashes = [
  { moment: 'after', operation: 'symlink', isWritten: false },
  { moment: 'before', operation: 'openSync', isWritten: false },
  { moment: 'after', operation: 'openSync', isWritten: false },
  { moment: 'before', operation: 'renameSync', isWritten: false },
  { moment: 'after', operation: 'renameSync', isWritten: true },
  { moment: 'before', operation: 'unlink', isWritten: true },
];
for (const { moment, operation, isWritten } of crashes) {
  t.test(`a crash ${moment} ${operation} leaves a whole store and no lock that blocks others`, async (t) => {
    const folder = t.testdir();
    const path = join(folder, 'keys.json');
    const store = new FileKeyStore(path);
    await store.insert(newRecord('before'));
    const script = fileURLToPath(new URL('./crash.js', import.meta.url));
    const { signal } = spawnSync(process.execPath, [script, path, moment, operation]);
    t.equal(signal, 'SIGKILL');

    const survivors = isWritten ? ['before', 'crashed'] : ['before'];
    t.strictSame(labels(await store.list()), survivors);
    await Promise.all([store.insert(newRecord('next')), store.insert(newRecord('next'))]);
    t.strictSame(labels(await store.list()), [...survivors, 'next', 'next']);
    t.strictSame(await readdir(folder), ['keys.json']);
  });
}

/** The watcher's messages, one `next()` at a time. */
function watched(t: Test, store: FileKeyStore): () => Promise<string> {
  const messages: string[] = [];
  t.teardown(
    store.watch({
      onChange: ({ records }) => messages.push(labels(records).join()),
      onSeen: () => undefined,
      onProblem: (error) => messages.push(error.message),
    }),
  );
  return async () => {
    await until(() => messages.length > 0);
    return messages.shift() ?? '';
  };
}

t.test('a change between the reading and the watching is not missed', async (t) => {
  const path = join(t.testdir(), 'keys.json');
  const store = new FileKeyStore(path);
  await store.list();
  await new FileKeyStore(path).insert(newRecord('a'));
  const next = watched(t, store);
  t.equal(await next(), 'a');
});

t.test('a watcher hears once of a damaged or lost file, and again when it is whole', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'keys.json');
  const store = new FileKeyStore(path);
  await store.insert(newRecord('a'));
  await store.list();
  const next = watched(t, store);
  await rename(path, join(folder, 'aside'));
  t.match(await next(), /keys\.json is gone/);
  await writeFile(path, 'nonsense');
  t.match(await next(), /it is not JSON/);
  await rename(join(folder, 'aside'), path);
  t.equal(await next(), 'a');
  await mkdir(join(folder, 'other'));
  await rename(path, join(folder, 'aside'));
  await rename(join(folder, 'other'), path);
  const told = [await next()];
  if (/is gone/.test(told[0] ?? '')) told.push(await next()); // a look between the two
  t.match(told.at(-1), /it is not a regular file/);
});
