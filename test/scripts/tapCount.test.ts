import t from 'tap';
import { script } from '../fixtures/repository.js';

interface Count {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface FileResult extends Count {
  readonly path: string;
  readonly seconds: number;
  readonly skips: readonly string[];
}

const { countOf, line, skippedIn, slowest, summary, isSuccess } = await script<{
  countOf(results: readonly Count[]): Count;
  line(result: FileResult, left: number): string;
  slowest(results: readonly FileResult[], most: number): readonly string[];
  skippedIn(results: readonly FileResult[], allowed?: RegExp): readonly string[];
  summary(count: Count): string;
  isSuccess(count: Count): boolean;
}>('tapCount.js');

const count = (passed: number, failed: number, skipped: number): Count => ({ passed, failed, skipped });

t.test('the sum of all files, in the line that ends a run', async (t) => {
  const line = (...counts: Count[]): string => summary(countOf(counts));
  t.equal(line(count(3, 0, 0), count(1, 0, 0)), '4 passed, 0 failed');
  t.equal(line(count(5, 3, 2), count(0, 0, 1)), '5 passed, 3 failed, 3 skipped');
  t.equal(line(), '0 passed, 0 failed');
});

t.test('a run has succeeded where something passed and nothing failed', async (t) => {
  t.equal(isSuccess(count(3, 0, 1)), true);
  t.equal(isSuccess(count(3, 1, 0)), false);
  t.equal(isSuccess(count(0, 0, 2)), false, 'only skipped');
});

t.test('the line about a file that has ended', async (t) => {
  const file = (counts: Count) => ({
    path: '.build/test/http/body.test.js',
    seconds: 1.25,
    skips: [],
    ...counts,
  });
  t.equal(line(file(count(5, 0, 1)), 7), 'ok        1.3 s  http/body: 5 passed, 0 failed, 1 skipped; 7 left');
  t.match(line(file(count(5, 1, 0)), 0), /^FAILED /);
  t.match(line(file(count(0, 0, 1)), 0), /^none /, 'only skipped');
});

t.test('the slowest files', async (t) => {
  const results = [
    { path: 'base/clock.test.js', seconds: 0.9125, ...count(1, 0, 0), skips: [] },
    { path: 'flow/stop.test.js', seconds: 61, ...count(1, 1, 0), skips: [] },
    { path: 'http/body.test.js', seconds: 1.5, ...count(1, 0, 0), skips: [] },
  ];
  t.strictSame(slowest(results, 2), ['  61.0  flow/stop.test.js', '   1.5  http/body.test.js']);
});

t.test('what was skipped, by reason; allowed reasons are left out', async (t) => {
  const file = (path: string, ...skips: string[]): FileResult => ({
    path,
    seconds: 1,
    ...count(1, 0, skips.length),
    skips,
  });
  const results = [file('a.js', 'no Redis', 'no data'), file('b.js'), file('c.js', 'no Redis', 'no Redis')];
  t.strictSame(skippedIn(results), ['no Redis: a.js, c.js', 'no data: a.js']);
  t.strictSame(skippedIn(results, /data/), ['no Redis: a.js, c.js']);
});
