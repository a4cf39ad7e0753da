import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openThreadCpu } from '#acuity/http/loopMetrics.js';

const skip =
  !existsSync('/proc/thread-self/schedstat') && 'needs /proc/thread-self/schedstat: run it on Linux';

t.test('work costs CPU time, waiting does not', { skip }, async (t) => {
  const cpu = openThreadCpu();
  const beganMs = cpu.ms();
  const before = process.cpuUsage();
  let sum = 0;
  while (process.cpuUsage(before).user < 200_000) for (let n = 0; n < 1e5; n++) sum += Math.sqrt(n);
  t.ok(sum > 0);
  const workedMs = cpu.ms() - beganMs;
  t.ok(workedMs > 20, `${workedMs} ms of work`);
  t.ok(cpu.ms() >= beganMs + workedMs, 'it never goes back');
  cpu.close();
  cpu.close();
  t.ok(cpu.ms() > 0, 'the last reading stays');
});

t.test('where nothing can be read it stays 0', async (t) => {
  const absent = openThreadCpu(join(t.testdirName, 'absent'));
  t.equal(absent.ms(), 0);
  absent.close();
  const odd = openThreadCpu(join(t.testdir({ odd: 'no number' }), 'odd'));
  t.equal(odd.ms(), 0);
  odd.close();
});
