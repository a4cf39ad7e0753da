import t from 'tap';
import { readOptions } from '#bench/comparison/options.js';
import { UsageError } from '#bench/usage.js';

const names = (args: readonly string[]): string[] => readOptions(args, true).peers.map(({ name }) => name);

t.test('by default the service with its peers, saturated and alone', async (t) => {
  const options = readOptions([], true);
  t.strictSame(names([]), ['floor', 'fastify', 'node', 'acuity']);
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
  t.strictSame(names(['--with', 'fastapi', '--with', 'floor']), [
    'floor',
    'fastify',
    'node',
    'acuity',
    'fastapi',
  ]);
});

t.test('one mode at a time', async (t) => {
  t.strictSame(readOptions(['--alone'], true).modes, ['alone']);
  t.strictSame(readOptions(['--saturated'], true).modes, ['saturation']);
  t.match(readOptions(['--rate', '500'], true), { modes: ['rate'], rate: 500 });
  t.throws(() => readOptions(['--alone', '--rate', '500'], true), UsageError);
});

t.test('a mistake is named', async (t) => {
  for (const args of [['--peers', 'nobody'], ['--payloads', 'huge'], ['--seconds', '0'], ['--nonsense']]) {
    t.throws(() => readOptions(args, true), UsageError, args.join(' '));
  }
});
