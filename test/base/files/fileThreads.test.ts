import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { FileThreads } from '#acuity/base/files/fileThreads.js';
import { heldOf } from '../../fixtures/garbage.js';

const SLOW = new URL('../../fixtures/slowFiles.js', import.meta.url);
const NO_ANSWER = { code: 'ETIMEDOUT' };

t.test('operations return their result, and errors of the system with their codes', async (t) => {
  const folder = t.testdir({ file: 'content' });
  const files = new FileThreads().files({ limitMs: 20_000, lateMax: 1 });
  t.equal(await files.readText(join(folder, 'file')), 'content');
  await files.replaceFile(join(folder, 'file'), 'other');
  t.equal(readFileSync(join(folder, 'file'), 'utf8'), 'other');
  await t.rejects(files.readText(join(folder, 'none')), { code: 'ENOENT' });
  await t.rejects(files.readText(folder), { code: 'EFTYPE' });
});

t.test('a look reports changes', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'deeper', 'file');
  const files = new FileThreads().files({ limitMs: 20_000, lateMax: 1 });
  const before = await files.look(path);
  t.match(before, { signature: undefined, text: undefined });
  mkdirSync(join(folder, 'deeper'));
  writeFileSync(path, 'one');
  const first = await files.look(path, before.signature);
  t.match(first, { signature: String, text: 'one' });
  t.match(await files.look(path, first.signature), { signature: first.signature, text: undefined });
  writeFileSync(path, 'two!');
  t.equal((await files.look(path, first.signature)).text, 'two!');
});

t.test('an answer is not kept once its caller has it', async (t) => {
  const path = join(t.testdir({ file: 'content' }), 'file');
  const files = new FileThreads().files({ limitMs: 20_000, lateMax: 1 });
  const answers: WeakRef<object>[] = [];
  while (answers.length < 20) answers.push(new WeakRef(await files.look(path)));
  t.equal(await files.readText(path), 'content', 'the thread lives on');
  t.equal(await heldOf(answers), 0);
});

t.test('a hanging operation is abandoned in time, and others go on', async (t) => {
  const release = join(t.testdir(), 'release');
  const threads = new FileThreads(SLOW);
  const impatient = threads.files({ limitMs: 300, lateMax: 2 });
  const patient = threads.files({ limitMs: 60_000, lateMax: 1 });
  t.equal(await patient.readText('warm'), 'warm');
  const hung = t.rejects(impatient.readText(`until:${release}`), NO_ANSWER);
  t.equal(await patient.readText('the next'), 'the next', 'on another thread');
  await hung;
  t.ok(threads.isHanging);
  await t.rejects(impatient.readText(`until:${release}`), NO_ANSWER);
  await t.rejects(impatient.readText('a third'), NO_ANSWER, 'two are late: it is not even tried');
  t.equal(await patient.readText('x'), 'x', 'the other owner is not concerned');
  writeFileSync(release, '');
  while (threads.isHanging) await sleep(5);
  t.equal(await impatient.readText('again'), 'again', 'they have come back');
});

t.test('a thread that dies takes its own operation with it, and no other', async (t) => {
  const files = new FileThreads(SLOW).files({ limitMs: 20_000, lateMax: 1 });
  const [died, other] = await Promise.allSettled([files.readText('die'), files.readText('other')]);
  t.match(died, { status: 'rejected', reason: { message: 'the thread died' } });
  t.match(other, { status: 'fulfilled', value: 'other' });
  t.equal(await files.readText('later'), 'later');
});
