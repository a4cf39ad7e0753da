import { mock } from 'node:test';
import t from 'tap';
import { BodyBuffers } from '#acuity/http/bodyBuffers.js';

const KIB = 1024;

t.test('a long buffer is used again for a body of about its length', async (t) => {
  const buffers = new BodyBuffers();
  const first = buffers.take(1_000 * KIB);
  t.ok(first.length >= 1_000 * KIB);
  buffers.give(first);
  t.equal(buffers.keptBytes, first.length);
  t.not(buffers.take(700 * KIB), first, 'too long by more than a quarter');
  t.equal(buffers.take(900 * KIB), first);
  t.equal(buffers.keptBytes, 0);
  t.not(buffers.take(1_000 * KIB), first, 'it is in use');
});

t.test('no more is kept than is allowed: the oldest go first', async (t) => {
  const buffers = new BodyBuffers(256 * KIB);
  const [old, mid, late] = [64, 128, 128].map((size) => buffers.take(size * KIB));
  if (old === undefined || mid === undefined || late === undefined) throw new Error('three');
  for (const buffer of [old, mid, late]) buffers.give(buffer);
  t.equal(buffers.keptBytes, 256 * KIB);
  t.equal(buffers.take(128 * KIB), late);
  t.equal(buffers.take(128 * KIB), mid);
  t.not(buffers.take(64 * KIB), old);
  buffers.give(new BodyBuffers().take(1024 * KIB));
  t.equal(buffers.keptBytes, 0, 'one that is too long for all that may be kept');
});

t.test('kept buffers are released when no long body has come for a while', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const buffers = new BodyBuffers(undefined, 1_000);
  const buffer = buffers.take(64 * KIB);
  const come = (): void => buffers.give(buffers.take(64 * KIB));
  buffers.give(buffer);
  for (let turn = 0; turn < 3; turn++) {
    come();
    mock.timers.tick(1_000);
    t.equal(buffers.keptBytes, 64 * KIB, 'one came since the last look');
  }
  t.equal(buffer.length, 64 * KIB);
  mock.timers.tick(1_000);
  t.equal(buffers.keptBytes, 0);
  t.equal(buffer.length, 0, 'its memory is free');
  come();
  mock.timers.tick(2_000);
  t.equal(buffers.keptBytes, 0, 'and again later');
});
