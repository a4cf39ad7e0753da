import t from 'tap';
import { FORMS } from '#bench/load/forms.js';
import { PAYLOADS } from '#acuity/load/payloads.js';
import { FORM_PAYLOADS, textsOf } from '#bench/comparison/payload.js';
import { goalSteps, type Step } from '#bench/comparison/plan.js';
import { payloadOf, RATIO_GOALS, type Side } from '#bench/comparison/ratioGoals.js';
import { closedLoopWithWrk, hasWrk } from '#bench/load/wrk.js';
import { hasPaced, openLoopPaced } from '#bench/load/paced.js';
import { ACUITY, RUST } from '#bench/peers/catalogue.js';
import { issueKey } from '#bench/server/key.js';
import { startServer } from '#bench/server/process.js';

const SECONDS = 2;

t.test('what the goals are said of is measured, once in each repetition', async (t) => {
  const steps = goalSteps(SECONDS, true);
  const measures = (side: Side, payload: (typeof PAYLOADS)[number]) => (step: Step) =>
    step.mode === side.mode &&
    step.connections === side.connections &&
    step.payload === payloadOf(side, payload) &&
    step.peers.some(({ name }) => side.peers.includes(name));
  for (const goal of RATIO_GOALS) {
    for (const payload of PAYLOADS.filter((one) => goal.limit[one] !== undefined)) {
      for (const side of [goal.ours, goal.theirs]) {
        const isAbsent = side.peers.includes('rust') && RUST.unavailable !== undefined;
        t.equal(steps.filter(measures(side, payload)).length, isAbsent ? 0 : 1, `${goal.name}, ${payload}`);
      }
    }
  }
});

t.test('without its generator nothing is sent at a share of saturation', async (t) => {
  const modes = goalSteps(SECONDS, false).map(({ mode }) => mode);
  t.notOk(modes.some((mode) => ['share', 'flood', 'matched'].includes(mode)));
});

t.test('a repetition of the goals takes some two minutes', async (t) => {
  const seconds = goalSteps(SECONDS, true).reduce((sum, step) => sum + step.seconds * step.peers.length, 0);
  t.ok(seconds <= 120, String(seconds));
});

t.test('forms are what their names say', async (t) => {
  const textOf = (id: string): string => FORMS.find((form) => form.id === id)?.texts(1)[0] ?? '';
  const night = (id: string): string => /"HR_night":\[([^\]]*)/.exec(textOf(id))?.[1] ?? '';
  const digitsOf = (text: string): number => text.replace(/\D/g, '').length;
  t.notMatch(night('whole'), /\./);
  t.match(night('means-14'), /\.\d{14}/);
  const long = night('means-17').split(',').map(digitsOf);
  t.ok(long.filter((digits) => digits === 17).length > 0.9 * long.length);
  t.match(textOf('scalars-17'), /"weight_kg":\d+\.\d{14,}/);
  t.match(textOf('scalars-17'), /"C_SCORE":\d+\.\d{14,}/);
  t.match(night('scalars-17'), /^\d+\.?\d?,/);
  const samples = night('gaps').split(',');
  t.ok(samples.includes('-1') && samples.includes('0'));
  t.equal(samples.filter((sample) => sample === '-1' || sample === '0').length, samples.length / 20);
  t.match(textOf('pretty'), /\n {2}"/);
  t.notMatch(textOf('no-breathing'), 'RR_');
  t.equal(night('averages').split(',').length, 1);
  t.equal(night('1hz').split(',').length, 28_800);
  for (const payload of FORM_PAYLOADS) {
    t.ok(textsOf(payload).length > 1, payload);
  }
});

t.test('generators send bodies of any form whole', async (t) => {
  const folder = t.testdir();
  const key = await issueKey(folder);
  const server = await startServer(ACUITY.command(key), folder);
  t.teardown(() => server.stop());
  const load = {
    target: { port: server.port, key: key.key },
    bodies: textsOf('history:pretty').slice(0, 2),
    connections: 4,
    seconds: 1,
  };
  t.test('wrk', { skip: hasWrk() ? false : 'it is not installed' }, async (t) => {
    const { requests, refused } = await closedLoopWithWrk(load);
    t.ok(requests > (refused ?? NaN), 'a body that is cut short would be refused, each time');
  });
  t.test('acuity-paced', { skip: hasPaced() ? false : 'it is not built' }, async (t) => {
    const { requests, refused, p50Micros, p999Micros } = await openLoopPaced({
      ...load,
      rate: 50,
      lateSeconds: 5,
    });
    t.ok(requests > (refused ?? NaN) && requests <= 50);
    t.ok(p50Micros <= p999Micros);
    const target = { ...load.target, key: 'not a key' };
    const wrong = await openLoopPaced({ ...load, rate: 50, lateSeconds: 5, target });
    t.equal(wrong.requests, wrong.refused, 'each refused');
  });
});
