import t from 'tap';
import { loadBundle } from '#acuity/model/bundle.js';
import { MODEL_FOLDER } from '#bench/paths.js';
import { FORMS } from '#bench/load/forms.js';
import { bodiesOf, PAYLOADS } from '#acuity/tune/load/payloads.js';
import { PEERS } from '#bench/peers/catalogue.js';
import { Connection, requestBytes } from '#acuity/tune/load/connection.js';
import { bySocket, issueKey, startServer } from '#bench/server.js';
import { busyMachine } from '#acuity/tune/load/statistics.js';
import { whyNoVerdict } from '#bench/spread.js';
import type { Result } from '#bench/peers/comparison.js';
import { goalTable } from '#bench/peers/goals.js';

process.env['ORT_DISABLE_TELEMETRY'] = '1'; // before ONNX Runtime loads
const { differenceOf, goldenQuestions, questionsOf, wrongAnswers } = await import('#bench/peers/answers.js');

const VARIANTS = 4;
const folder = t.testdir();
const key = await issueKey(folder);
const bundle = await loadBundle(MODEL_FOLDER);
const bodies = [
  ...PAYLOADS.flatMap((payload) => bodiesOf(payload, VARIANTS)),
  ...FORMS.filter(({ isOurs }) => isOurs !== true).flatMap((form) => form.texts(1)),
];
const questions = [...goldenQuestions(bundle), ...(await questionsOf(bundle, bodies))];

for (const peer of [...PEERS, ...PEERS.map(bySocket)]) {
  const skip = peer.unavailable ?? false;
  t.test(`${peer.name} starts, does the same job, and leaves`, { skip }, async (t) => {
    const server = await startServer(peer.command(key), folder);
    t.teardown(() => server.stop());
    const target = { port: server.port, socket: server.socket, key: key.key };
    if (peer.scores) {
      t.strictSame(await wrongAnswers(target, questions, { connections: 8, rounds: 2 }), []);
      const connection = await Connection.open(server.socket ?? server.port);
      const keyless = requestBytes({ ...target, key: 'not a key' }, bodies[0] ?? '');
      const { status } = await connection.send(keyless);
      connection.close();
      t.equal(status, 403, 'a key is asked for');
    } else {
      const connection = await Connection.open(server.socket ?? server.port);
      t.equal((await connection.send(requestBytes(target, bodies[0] ?? ''))).status, 200);
      connection.close();
    }
    t.ok(server.cpuMicros() > 0);
    t.ok(server.rssBytes() > 0);
    await server.stop();
    t.throws(() => process.kill(server.pid, 0), { code: 'ESRCH' });
  });
}

t.test('a server that can not start is told with what it said', async (t) => {
  const command = {
    name: 'broken',
    file: process.execPath,
    args: ['-e', 'console.error("no such luck"); process.exit(3)'],
    env: {},
  };
  await t.rejects(startServer(command, folder), { message: 'broken left before it was ready: no such luck' });
});

t.test(
  'another status, score or label is a difference, the last hundredth is none, and none is quoted',
  async (t) => {
    const [{ expected } = { expected: undefined }] = goldenQuestions(bundle);
    if (expected === undefined) throw new Error('no golden case');
    const told = (changes: object, status = 200) =>
      differenceOf({ status, body: JSON.stringify({ ...expected, ...changes }) }, expected);
    t.equal(told({ memory: expected.memory + 0.02 }), undefined);
    t.equal(told({}, 503), 'status 503');
    t.equal(told({ memory: expected.memory + 0.2 }), 'memory is off by 0.20');
    t.equal(told({ arousal: expected.arousal === 'High' ? 'Low' : 'High' }), 'arousal is the other one');
  },
);

t.test('what shows no spread, or was measured on a busy machine, is not judged', async (t) => {
  t.match(whyNoVerdict(1, undefined), /one repetition/);
  t.match(whyNoVerdict(5, busyMachine([2.4], 2)), /2\.4 on 2 cores/);
  t.equal(busyMachine([2], 2), undefined);
  const measured = { payload: 'baseline', mode: 'saturation', cpuMicrosPerRequest: 20 };
  const results = ['acuity', 'floor'].map((peer) => ({ ...measured, peer }) as Result);
  t.match(goalTable(results, true)[1], [/floor/, 'baseline', '≤ 2.2 ×', '1.00 (1.00–1.00) ×', 'holds']);
  t.notMatch(goalTable(results, false).flat().join(), /holds|falls short/);
});
