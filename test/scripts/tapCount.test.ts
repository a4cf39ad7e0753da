import t from 'tap';
import { script } from '../fixtures/scripts.js';

interface Count {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const { countFrom, summary, isSuccess } = await script<{
  countFrom(tapOutput: string, exitCode: number): Count;
  summary(count: Count): string;
  isSuccess(count: Count): boolean;
}>('tapCount.js');

const CASES = [
  {
    name: 'all passed',
    totals: '# { total: 3, pass: 3 }',
    exitCode: 0,
    line: '3 passed, 0 failed',
    ok: true,
  },
  {
    name: 'some of each',
    totals: '# { total: 11, pass: 5, fail: 3, todo: 1, skip: 2 }',
    exitCode: 1,
    line: '5 passed, 3 failed, 3 skipped',
    ok: false,
  },
  {
    name: 'only skipped',
    totals: '# { total: 2, skip: 2 }',
    exitCode: 0,
    line: '0 passed, 0 failed, 2 skipped',
    ok: false,
  },
  { name: 'no output', totals: '', exitCode: 0, line: '0 passed, 0 failed', ok: false },
  { name: 'a runner that crashed', totals: '', exitCode: 1, line: '0 passed, 1 failed', ok: false },
  {
    name: 'a runner that failed for another reason than a test',
    totals: '# { total: 3, pass: 3 }',
    exitCode: 1,
    line: '3 passed, 1 failed',
    ok: false,
  },
];

for (const { name, totals, exitCode, line, ok } of CASES) {
  t.test(name, async (t) => {
    const count = countFrom(`TAP version 14\nok 1 - a\n1..1\n${totals}\n# time=5ms\n`, exitCode);
    t.equal(summary(count), line);
    t.equal(isSuccess(count), ok);
  });
}

t.test('totals that a test printed inside a subtest are not the run’s', async (t) => {
  const output = '# Subtest: a\n    # { total: 9, pass: 9 }\n# { total: 1, fail: 1 }\n';
  t.equal(summary(countFrom(output, 1)), '0 passed, 1 failed');
});
