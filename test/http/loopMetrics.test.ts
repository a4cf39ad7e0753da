import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { LoopLag, openThreadCpu } from '#acuity/http/loopMetrics.js';
import { manualClock } from '../fixtures/manualClock.js';
import { until } from '../fixtures/until.js';

const SOURCE = '/proc/thread-self/schedstat';
const skip = !existsSync(SOURCE) && `needs ${SOURCE}: run it on Linux`;

t.test('the system tells the CPU time of the thread', { skip }, async (t) => {
  const cpu = openThreadCpu();
  t.ok(cpu.ms() > 0);
  cpu.close();
});

t.test('CPU time never goes back; the last reading stays, 0 where nothing can be read', async (t) => {
  const folder = t.testdir({ schedstat: '2500000 8 9', odd: 'no number' });
  const path = join(folder, 'schedstat');
  const cpu = openThreadCpu(path);
  const read = [cpu.ms()];
  for (const text of ['1000000 8 9', 'no number', '3500000 8 9']) {
    writeFileSync(path, text);
    read.push(cpu.ms());
  }
  cpu.close();
  cpu.close();
  t.strictSame([...read, cpu.ms()], [2.5, 2.5, 2.5, 3.5, 3.5]);
  for (const name of ['absent', 'odd']) t.equal(openThreadCpu(join(folder, name)).ms(), 0, name);
});

t.test('the lag is how late the last timer was, and falls back', async (t) => {
  const clock = manualClock();
  const lag = new LoopLag(clock);
  t.teardown(() => lag.stop());
  t.equal(lag.ms, 0);
  clock.advance(520);
  await until(() => lag.ms > 0);
  t.equal(lag.ms, 500);
  await until(() => lag.ms === 0);
});
