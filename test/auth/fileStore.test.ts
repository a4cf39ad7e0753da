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
import t from 'tap';
import { FileKeyStore } from '#acuity/auth/fileStore.js';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import type { KeyRecord } from '#acuity/auth/store.js';

function newRecord(label = ''): KeyRecord {
  return issue({ kind: 'demo', label }, Date.UTC(2030)).record;
}

function labels(records: readonly KeyRecord[]): string[] {
  return records.map(({ label }) => label).toSorted();
}

t.test('no file is an empty store', async (t) => {
  const folder = t.testdir();
  t.strictSame(await new FileKeyStore(join(folder, 'keys.json')).list(), []);
  t.strictSame(await readdir(folder), []);
});

t.test('written keys are read back, also by another store', async (t) => {
  const path = join(t.testdir(), 'data', 'deeper', 'keys.json');
  const records = [newRecord('a'), newRecord('b'), issue({ kind: 'live' }, 0).record];
  for (const record of records) await new FileKeyStore(path).insert(record);
  t.strictSame(await new FileKeyStore(path).list(), records);
});

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

t.test('one record is amended, the others stay', async (t) => {
  const store = new FileKeyStore(join(t.testdir(), 'keys.json'));
  const [one, two] = [newRecord('one'), newRecord('two')];
  await store.insert(one);
  await store.insert(two);
  const successor = newRecord('successor');
  const { record } = await store.amend(one.id, (current) => ({ ...revoked(current, 0), successor }));
  t.equal(record.revokedAt, '1970-01-01T00:00:00.000Z');
  t.strictSame(await store.list(), [record, two, successor]);
});

t.test('a change that is refused writes nothing', async (t) => {
  const path = join(t.testdir(), 'keys.json');
  const store = new FileKeyStore(path);
  const record = newRecord();
  await store.insert(record);
  const before = await stat(path);
  const refuse = (): never => {
    throw new Error('refused');
  };
  await t.rejects(store.amend(record.id, refuse), { message: 'refused' });
  await t.rejects(store.amend('key_x', refuse), { name: 'KeyStoreError', message: /no key "key_x"/ });
  await t.rejects(store.insert(record), { message: /twice/ });
  await t.rejects(store.insert({ ...newRecord(), expiresAt: 'soon' }), { message: /expiresAt/ });
  t.equal((await stat(path)).ino, before.ino);
});

t.test('concurrent writers lose nothing', async (t) => {
  const path = join(t.testdir(), 'keys.json');
  const names = Array.from({ length: 20 }, (_, index) => `key ${index}`);
  await Promise.all(names.map((name) => new FileKeyStore(path).insert(newRecord(name))));
  t.strictSame(labels(await new FileKeyStore(path).list()), names.toSorted());
});

t.test('of many that would be first, one is', async (t) => {
  const path = join(t.testdir(), 'keys.json');
  const firsts = await Promise.all(
    Array.from({ length: 10 }, () => new FileKeyStore(path).insertFirst(newRecord())),
  );
  t.equal(firsts.filter(Boolean).length, 1);
  t.equal((await new FileKeyStore(path).list()).length, 1);
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
function watched(store: FileKeyStore): { next(): Promise<string>; stop(): void } {
  const messages: string[] = [];
  let wake = (): void => undefined;
  const note = (message: string): void => {
    messages.push(message);
    wake();
  };
  const stop = store.watch({
    onChange: ({ records }) => note(labels(records).join()),
    onSeen: () => undefined,
    onProblem: (error) => note(error.message),
  });
  const next = async (): Promise<string> => {
    while (messages.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        // The watch itself keeps no process alive.
        setTimeout(resolve, 100);
      });
    }
    return messages.shift() ?? '';
  };
  return { next, stop };
}

t.test('a watcher learns of each change by any process, and of nothing else', async (t) => {
  const path = join(t.testdir(), 'keys.json');
  const store = new FileKeyStore(path);
  await store.insert(newRecord('a'));
  await store.list();
  const { next, stop } = watched(store);
  t.teardown(stop);
  await new FileKeyStore(path).insert(newRecord('b'));
  t.equal(await next(), 'a,b');
  await new FileKeyStore(path).insert(newRecord('c'));
  t.equal(await next(), 'a,b,c');
});

t.test('a change between the reading and the watching is not missed', async (t) => {
  const path = join(t.testdir(), 'keys.json');
  const store = new FileKeyStore(path);
  await store.list();
  await new FileKeyStore(path).insert(newRecord('a'));
  const { next, stop } = watched(store);
  t.teardown(stop);
  t.equal(await next(), 'a');
});

t.test('a watcher hears once of a damaged or lost file, and again when it is whole', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'keys.json');
  const store = new FileKeyStore(path);
  await store.insert(newRecord('a'));
  await store.list();
  const { next, stop } = watched(store);
  t.teardown(stop);
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

t.test('a folder that is replaced by another one is watched again', async (t) => {
  const folder = t.testdir({ store: {}, other: {} });
  const path = join(folder, 'store', 'keys.json');
  const store = new FileKeyStore(path);
  await store.insert(newRecord('a'));
  await store.list();
  const { next, stop } = watched(store);
  t.teardown(stop);
  await new FileKeyStore(join(folder, 'other', 'keys.json')).insert(newRecord('b'));
  await rename(join(folder, 'store'), join(folder, 'aside'));
  await rename(join(folder, 'other'), join(folder, 'store'));
  let told = await next();
  while (told !== 'b') told = await next(); // between the two renames it is gone
  await new FileKeyStore(path).insert(newRecord('c'));
  t.equal(await next(), 'b,c');
});

t.test('a watcher that stopped hears nothing more', async (t) => {
  const path = join(t.testdir(), 'keys.json');
  const store = new FileKeyStore(path);
  await store.list();
  const stop = store.watch({
    onChange: () => t.fail('a change was reported'),
    onSeen: () => undefined,
    onProblem: () => t.fail('a problem was reported'),
  });
  const { next, stop: stopOther } = watched(store);
  t.teardown(stopOther);
  stop();
  await store.insert(newRecord('a'));
  t.equal(await next(), 'a');
});
