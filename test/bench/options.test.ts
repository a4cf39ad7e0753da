import t from 'tap';
import { readOptions } from '#bench/comparison/options.js';
import { changeVerdict } from '#bench/comparison/report.js';
import { UsageError } from '#bench/usage.js';

const names = (args: readonly string[]): string[] => readOptions(args, true).peers.map(({ name }) => name);

t.test('by default the service with its peers, saturated and alone', async (t) => {
  const options = readOptions([], true);
  t.strictSame(names([]), ['floor', 'fastify', 'acuity']);
  t.strictSame(options.modes, ['saturation', 'alone']);
  t.strictSame(options.connections, [64]);
  t.equal(options.repetitions, 5);
  t.equal(options.load, 'wrk');
});

t.test('autocannon stands in where wrk is not installed', async (t) => {
  t.equal(readOptions([], false).load, 'autocannon');
  t.throws(() => readOptions(['--load', 'wrk'], false), UsageError);
});

t.test('each count of event loops is a peer, and none comes twice', async (t) => {
  t.strictSame(names(['--peers', 'acuity', '--threads', '1,2']), ['acuity', 'acuity-2']);
  t.strictSame(names(['--with', 'rust', '--with', 'floor']), ['floor', 'fastify', 'acuity', 'rust']);
});

t.test('one mode at a time', async (t) => {
  t.strictSame(readOptions(['--alone'], true).modes, ['alone']);
  t.strictSame(readOptions(['--saturated'], true).modes, ['saturation']);
  t.match(readOptions(['--rate', '500'], true), { modes: ['rate'], rate: 500 });
  t.throws(() => readOptions(['--alone', '--rate', '500'], true), UsageError);
});

t.test('payloads are named with their forms', async (t) => {
  const payloads = (given: string): readonly string[] => readOptions(['--payloads', given], true).payloads;
  t.strictSame(payloads('history,history:pretty'), ['history', 'history:pretty']);
  t.strictSame(payloads('forms').slice(0, 2), ['baseline', 'history']);
  t.ok(payloads('forms').includes('baseline:1hz'));
  t.throws(() => payloads('history:tenths'), UsageError, 'the payload itself');
});

t.test('the goals want the generator that they are said of', async (t) => {
  t.match(readOptions(['--goals'], true), { isForGoals: true, isShort: false, seconds: 2 });
  t.throws(() => readOptions(['--goals'], false), UsageError);
  t.strictSame(names(['--goals']), ['floor', 'fastify', 'rust', 'rust-2', 'acuity', 'acuity-2']);
  t.throws(() => readOptions(['--goals', '--peers', 'floor'], true), UsageError, 'it would choose nothing');
  t.throws(() => readOptions(['--short'], true), UsageError);
});

t.test('a revision is measured beside this tree alone, saturated', async (t) => {
  t.match(readOptions(['--compare', 'HEAD~1', '--repetitions', '3'], true), {
    revision: 'HEAD~1',
    modes: ['saturation'],
    repetitions: 3,
  });
  t.throws(() => readOptions(['--compare', 'HEAD~1', '--peers', 'floor'], true), UsageError);
  t.throws(() => readOptions(['--compare', 'HEAD~1', '--goals'], true), UsageError);
});

t.test('only what every repetition shows is a difference', async (t) => {
  t.equal(changeVerdict({ min: 0.8, max: 0.99 }), 'less, in every repetition');
  t.equal(changeVerdict({ min: 0.9, max: 1.01 }), 'no difference beyond the spread');
  t.equal(changeVerdict({ min: 1.1, max: 1.2 }), 'more, in every repetition');
});

t.test('a mistake is named', async (t) => {
  for (const args of [['--peers', 'unknown'], ['--payloads', 'huge'], ['--seconds', '0'], ['--nonsense']]) {
    t.throws(() => readOptions(args, true), UsageError, args.join(' '));
  }
});
