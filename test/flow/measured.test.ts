import t from 'tap';
import { Compile } from 'typebox/compile';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type { Measurement, PredictionRequestBody, ScoreRecord } from '#acuity/contract/request.js';
import { PredictionResponseSchema, type PredictionResponse } from '#acuity/contract/response.js';
import { normalCdf, probit } from '#acuity/pipeline/normal.js';
import { session } from '../fixtures/bodies.js';
import { Connection, sendOn } from '../fixtures/connection.js';
import { MODEL, manifestOf } from '../fixtures/model.js';
import { startServer } from '../fixtures/server.js';

/** A running server with the shipped network: each sentence of the contract on measurements, as a caller meets it. */

const { measured } = manifestOf(MODEL);
if (measured === undefined) throw new Error('the shipped model takes no measurements');
const { halfLifeDays, composite } = measured;

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const headers = { 'X-API-Key': server.key };
const check = Compile(PredictionResponseSchema);
const connection = await Connection.open(server.port);
t.teardown(() => connection.destroy());

type Body = Partial<PredictionRequestBody>;

async function text(body: object): Promise<{ status: number; body: string }> {
  return sendOn(connection, { headers, body: JSON.stringify({ current_session: session(1), ...body }) });
}

async function predict(body: Body): Promise<PredictionResponse> {
  const reply = await text(body);
  if (reply.status !== 200) throw new Error(reply.body);
  const answer = JSON.parse(reply.body) as PredictionResponse;
  if (!check.Check(answer)) throw new Error(`not of the schema: ${reply.body}`);
  return answer;
}

/** Days of 2026. */
function date(day: number): string {
  return new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);
}

/** Nights from the first on, each with what was measured on it; the answer to the last. */
async function nights(
  measurements: Readonly<Record<number, Measurement[]>>,
  count: number,
  from = '',
): Promise<PredictionResponse> {
  let answer: PredictionResponse | undefined;
  for (let day = 0; day < count; day++) {
    const history = answer?.history ?? from;
    answer = await predict({
      current_session: session(day),
      night: date(day),
      history,
      ...(measurements[day] && { measurements: measurements[day] }),
    });
  }
  if (answer === undefined) throw new Error('no night');
  return answer;
}

const FIELDS = [...SCORE_FIELDS, ...LABEL_FIELDS];

function scoresOf(answer: ScoreRecord): ScoreRecord {
  return Object.fromEntries(FIELDS.map((field) => [field, answer[field]])) as ScoreRecord;
}

function without(answer: PredictionResponse, ...names: (keyof PredictionResponse)[]): object {
  return Object.fromEntries(
    Object.entries({ ...answer, inference_time_ms: 0 }).filter(
      ([name]) => !names.includes(name as keyof PredictionResponse),
    ),
  );
}

/** The words of the contract, of one score and measurements whose nights said `said`. */
function expected(
  today: number,
  all: readonly { value: number; said: number; a: number; age: number }[],
  halfLife: number,
): number {
  const link = (percent: number): number => probit(percent / 100);
  const known = all.map(({ value, said, a, age }) => {
    const w = 2 ** (-age / halfLife);
    return {
      w,
      a,
      k: (w * a) / (1 - a),
      r: link(Math.min(99.5, Math.max(0.5, value))) - Math.SQRT2 * link(said),
    };
  });
  const total = (of: (one: (typeof known)[number]) => number): number =>
    known.reduce((sum, one) => sum + of(one), 0);
  const k = total((one) => one.k);
  const m = total((one) => one.k * one.r) / (1 + k);
  const a = total((one) => one.w * one.a) / total((one) => one.w);
  return 100 * normalCdf((Math.SQRT2 * link(today) + m) / Math.sqrt(2 - a + a / (1 + k)));
}

t.test(
  'a test moves its score and the composite, by the arithmetic of the contract; nothing else',
  async (t) => {
    const plain = await predict({ night: date(0), history: '' });
    const measurements: Measurement[] = [{ score: 'attention', value: 80, reliability: 0.75 }];
    const answer = await predict({ night: date(0), history: '', measurements });
    t.strictSame(answer.unmeasured, scoresOf(plain));
    const { attention } = plain;
    const moved = expected(
      attention,
      [{ value: 80, said: attention, a: 0.75, age: 0 }],
      halfLifeDays.attention,
    );
    t.ok(Math.abs(answer.attention - moved) < 0.02, `${answer.attention}, ${moved}`);
    const whole =
      composite.attention * answer.attention +
      composite.memory * plain.memory +
      composite.reasoning * plain.reasoning;
    t.ok(Math.abs(answer.C_SCORE - whole) < 0.02);
    for (const field of ['memory', 'reasoning', 'stress', 'valence', 'arousal'] as const)
      t.equal(answer[field], plain[field], field);
  },
);

t.test(
  'explained: every mixture, the reference and the ranges moved alike, and all of it adds up',
  async (t) => {
    const measurements = {
      2: [
        { score: 'attention', value: 90, reliability: 0.8 },
        { score: 'stress', value: 10, reliability: 0.8 },
        { score: 'valence', value: 'Low', reliability: 0.8 },
      ] satisfies Measurement[],
    };
    for (const count of [3, 5, 20]) {
      const [before, plainBefore] = [await nights(measurements, count), await nights({}, count)];
      const ask: Body = { current_session: session(99), night: date(count), explain: true };
      const answer = await predict({ ...ask, history: before.history ?? '' });
      const plain = await predict({ ...ask, history: plainBefore.history ?? '' });
      const { explanation: told } = answer;
      const { explanation: untold } = plain;
      if (told === undefined || untold === undefined) return t.fail('not explained');
      t.strictSame(told.quality, untold.quality);
      t.equal(told.against, untold.against);
      t.ok(told.labels.valence < untold.labels.valence);
      t.equal(told.labels.arousal, untold.labels.arousal);
      for (const field of SCORE_FIELDS) {
        const { reference, change, measured: by, repeatability, recent } = told.scores[field];
        const [low = NaN, high = NaN] = repeatability;
        const whole = (points: number): number => Math.round(100 * points);
        t.equal(whole(reference) + whole(change), whole(answer[field]));
        const parts = told.contributors.reduce((sum, group) => sum + whole(group[field]), 0);
        t.equal(parts, whole(change), `the contributors to ${field}`);
        t.ok(low <= answer[field] && high >= answer[field]);
        t.equal('measured' in told.scores[field], ['C_SCORE', 'attention', 'stress'].includes(field), field);
        if (by === undefined) t.strictSame(told.scores[field], untold.scores[field]);
        else t.equal(whole(by), whole(answer[field]) - whole(answer.unmeasured?.[field] ?? NaN));
        t.equal(recent === undefined, count < 20);
        t.notOk('measured' in untold.scores[field]);
      }
      t.ok(told.scores.attention.reference > untold.scores.attention.reference + 5);
      t.ok((told.scores.stress.measured ?? NaN) < -5);
      const same = await predict({ ...ask, history: before.history ?? '', explain: false });
      t.strictSame(without(same), without(answer, 'explanation'));
    }
  },
);

t.test('a raw result is answered as its percentile, alone and in a list, and again', async (t) => {
  const raw: Measurement[] = [{ test: 'pss10', answers: [2, 3, 1, 2, 1, 3, 2, 2, 1, 2], on: date(-1) }];
  const body: Body = { night: date(0), history: '', explain: true, measurements: raw };
  const answer = await predict(body);
  const [tested] = answer.measured ?? [];
  if (tested === undefined) throw new Error('nothing was measured');
  const { test, ...percentile } = tested;
  t.equal(test, 'pss10');
  t.strictSame(without(await predict({ ...body, measurements: [percentile] })), without(answer, 'measured'));
  t.match(answer.explanation?.scores.stress.text, /^Stress is \d+ \(\d+ without what was measured\)/);
  t.match(answer.explanation?.contributors[0], { label: 'the amount of sleep' });
  const again = await predict({ ...body, history: answer.history ?? '' });
  t.strictSame(without(again), without(answer));
  const line = JSON.stringify({ current_session: session(1), ...body });
  const list = await sendOn(connection, {
    headers: { ...headers, 'Content-Type': 'application/x-ndjson' },
    body: `${line}\n${line.replace('pss10', 'digit_symbol')}\n`,
  });
  const [first = '', second = ''] = list.body.split('\n');
  t.strictSame(without(JSON.parse(first) as PredictionResponse), without(answer));
  t.match(JSON.parse(second), { status: 422, detail: [{ loc: ['body', 'measurements', 0, 'answers'] }] });
});
