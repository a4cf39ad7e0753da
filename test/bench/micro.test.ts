import t from 'tap';
import { measure, type Suite } from '#bench/micro/harness.js';

process.env['ORT_DISABLE_TELEMETRY'] = '1'; // before ONNX Runtime loads
const { SUITES } = await import('#bench/micro.js');

/** As little as possible: whether the benches still run and still get right results. */
const EFFORT = { rounds: 1, roundMs: 0.01 };

t.test('every suite runs and checks its results', async (t) => {
  for (const suite of SUITES) {
    const results = await measure(suite, EFFORT);
    t.ok(results.length > 0, suite.name);
    for (const { name, wall } of results) t.ok(Math.min(...wall) > 0, name);
  }
});

t.test('a wrong result ends the bench, and the suite is closed', async (t) => {
  let isClosed = false;
  const check = (): never => {
    throw new Error('wrong result');
  };
  const suite: Suite = {
    name: 'wrong',
    open: async () => ({
      cases: [{ name: 'one and one', units: 1, run: () => 3, check }],
      close: async () => void (isClosed = true),
    }),
  };
  await t.rejects(measure(suite, EFFORT), { message: 'wrong result' });
  t.ok(isClosed);
});
