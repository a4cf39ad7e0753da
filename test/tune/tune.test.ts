import t from 'tap';
import { tryCandidate } from '#acuity/tune/trials.js';
import { acuity } from '../fixtures/scripts.js';

t.test('a tiny budget is kept and still gives a block that can be pasted', async (t) => {
  const { code, stdout, stderr } = await acuity(['tune', '--minutes', '0.12', '--connections', '8']);
  t.equal(code, 0, stderr);
  for (const name of ['HTTP_THREADS', 'WORKERS', 'INTRA_OP_THREADS', 'BATCH_MAX'])
    t.match(stdout, new RegExp(`^ACUITY_${name}=\\d+$`, 'm'));
  t.match(stdout, /^# (expected here, saturated: \d+|not measured)/m);
  t.match(stderr, /^acuity tune: round 1 of \d+: \d+ settings?$/m);
  const isDuel = /^acuity tune: pair 1/m.test(stderr);
  t.notOk(isDuel && /nothing better than/.test(stdout), 'no duel with itself');
  t.notMatch(stdout + stderr, /sk_(live|demo)_/, 'no key is shown');
});

t.test('a mistake in the options ends it at once', async (t) => {
  for (const args of [
    ['--p99-ms', '0'],
    ['--minutes', '0'],
    ['--connections', '9999'],
  ]) {
    const { code, stdout } = await acuity(['tune', ...args]);
    t.not(code, 0, args.join(' '));
    t.equal(stdout, '');
  }
});

t.test('a server that ends during its trial is an outcome, and no end of the search', async (t) => {
  const ends = 'data:text/javascript,setTimeout(()=>process.exit(1),2500)';
  const bench = {
    folder: t.testdir(),
    key: 'none',
    environment: { ...process.env, NODE_OPTIONS: `--import ${ends}` },
    bodies: ['{}'],
    connections: 2,
    endMs: performance.now() + 60_000,
  };
  const candidate = {
    httpThreads: 1,
    workers: 1,
    intraOpThreads: 1,
    interOpThreads: 1,
    spinning: false,
    batchMax: 32,
  };
  t.match(await tryCandidate(bench, candidate, 20_000), { perSecond: 0, failure: /./ });
});
