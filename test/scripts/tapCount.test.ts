import t from 'tap';
import { script } from '../fixtures/repository.js';

interface Count {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const { countAfterAnother, countFrom, failedFiles, slowest, summary, isSuccess } = await script<{
  countAfterAnother(first: Count, again: Count): Count;
  failedFiles(tapOutput: string): readonly string[];
  slowest(tapOutput: string, most: number): readonly string[];
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

t.test('the files that failed are named, not their subtests', async (t) => {
  const output = `TAP version 14
# Subtest: .build/test/a.test.js
    not ok 1 - inner.test.js
not ok 1 - .build/test/a.test.js # time=5ms
ok 2 - .build/test/b.test.js # time=5ms
not ok 3 - .build/test/c.test.js # timeout! # time=5ms
`;
  t.strictSame(failedFiles(output), ['.build/test/a.test.js', '.build/test/c.test.js']);
});

t.test('what failed and does not fail alone has passed; what fails again has failed', async (t) => {
  const first = { passed: 90, failed: 3, skipped: 2 };
  const again = { passed: 11, failed: 1, skipped: 0 };
  t.equal(summary(countAfterAnother(first, again)), '92 passed, 1 failed, 2 skipped');
  const more = countAfterAnother(first, { passed: 0, failed: 4, skipped: 0 });
  t.equal(summary(more), '90 passed, 4 failed, 2 skipped');
});

t.test('the slowest files', async (t) => {
  const output = `TAP version 14
    ok 1 - inner.test.js # time=99999ms
ok 1 - .build/test/base/clock.test.js # time=912.5ms
not ok 2 - .build/test/flow/stop.test.js # time=61s
ok 3 - .build/test/http/body.test.js # time=1500ms {
}
ok 4 - .build/test/none.test.js # SKIP no data
`;
  t.strictSame(slowest(output, 2), [
    '  61.0  .build/test/flow/stop.test.js',
    '   1.5  .build/test/http/body.test.js',
  ]);
});
