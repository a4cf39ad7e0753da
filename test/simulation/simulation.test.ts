import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { hunt } from '#simulation/defects.js';
import { REPOSITORY } from '../fixtures/repository.js';

/** `npm run simulate` in a process of its own, whose timers and clocks it takes over. */
function simulate(...options: readonly string[]): {
  readonly status: number | null;
  readonly lines: string[];
} {
  const command = [join(REPOSITORY, '.build/simulation/main.js'), ...options];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  return { status, lines: `${stdout}${stderr}`.split('\n') };
}

t.test('what must hold holds, and the same seeds are the same runs', async (t) => {
  const form = ['--seeds', '8', '--hours', '0.02'];
  const [first, second] = [simulate(...form), simulate(...form, '--revision', 'another')];
  t.equal(first.status, 0, first.lines.join('\n'));
  const traces = first.lines.filter((line) => line.startsWith('seed '));
  t.equal(traces.length, 8);
  t.equal(new Set(traces).size, 8, 'each seed is a run of its own');
  t.same(
    second.lines.filter((line) => line.startsWith('seed ')),
    traces,
  );
  t.match(second.lines[0], /^this tree is .*, not another: /, 'a run of another revision is told apart');
});

t.test('the body budget’s old leak is found, and found again by its seed', async (t) => {
  const found = hunt('bodyBudgetLeak', 10, 0.02);
  t.match(found.violation, /bytes of bodies are held|KiB of bodies are counted/);
  t.same(hunt('bodyBudgetLeak', 10, 0.02), found);
});
