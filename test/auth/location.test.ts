import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { issue } from '#acuity/auth/lifecycle.js';
import { openStores, storesAt } from '#acuity/auth/location.js';

t.test('file:PATH leads to a key store', async (t) => {
  const folder = t.testdir();
  for (const [prefix, name] of [
    ['file:', 'a'],
    ['file://', 'b'],
  ] as const) {
    await mkdir(join(folder, name));
    const { keys } = storesAt(`${prefix}${join(folder, name, 'keys.json')}`);
    await keys.insert(issue({ kind: 'demo' }, 0).record);
    t.strictSame(await readdir(join(folder, name)), ['keys.json']);
  }
});

t.test('other locations are refused without being quoted', async (t) => {
  for (const location of ['', 'keys.json', 'file:', 'file://host/keys.json', 'http://secret', 'redis:secret'])
    t.throws(() => storesAt(location), { name: 'KeyStoreError', message: /^(?!.*secret)/ }, location);
  for (const location of ['redis://u:secret@[h', 'rediss://:secret@h:port/', 'redis://secret@h/x'])
    await t.rejects(openStores(location), { name: 'KeyStoreError', message: /^(?!.*secret)/ }, location);
});
