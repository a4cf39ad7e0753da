import t, { type Test } from 'tap';
import type { PredictionRequestBody } from '#acuity/client/contract.js';
import { KeyRejectedError } from '#acuity/client/errors.js';
import type { Outcome, PredictManyOptions } from '#acuity/client/lists.js';
import type { Outgoing, Transport } from '#acuity/client/transport.js';
import { startScripted, type Reply, casesOf, clientTo, KEY, SCORES } from '../fixtures/sharedCases.js';

interface ListReply extends Omit<Reply, 'text'> {
  readonly lines?: readonly unknown[];
  readonly ends?: string;
  readonly text?: string;
}

type Expected = number | { readonly error?: string; readonly has?: string; readonly scored?: number };

interface ListCase {
  readonly name: string;
  readonly options?: { readonly retries?: number; readonly timeoutMs?: number; readonly deadlineMs?: number };
  readonly lists?: PredictManyOptions;
  readonly requests: readonly (number | PredictionRequestBody)[];
  readonly keys?: readonly string[];
  readonly inputFails?: true;
  readonly replies?: readonly ListReply[];
  readonly expect: {
    readonly sent: readonly (readonly number[])[];
    readonly outcomes: readonly Expected[];
    readonly pausesMs: readonly number[];
    readonly throws?: string;
    readonly has?: string;
  };
}

const requestOf = (number: number): PredictionRequestBody => ({
  current_session: { sleepTimeSeconds: number },
});
const numberOf = ({ current_session: session }: PredictionRequestBody): number =>
  session.sleepTimeSeconds ?? 0;
const scored = (request: PredictionRequestBody): string =>
  JSON.stringify({ ...SCORES, attention: numberOf(request) / 1000, inference_time_ms: 0.2 });

/** As packages/cases/README.md says. */
function replyTo(
  requests: readonly PredictionRequestBody[],
  reply: ListReply = { lines: requests.map(() => 'scored') },
): Reply {
  const { lines, ends = '\n', text = '', ...others } = reply;
  if (lines === undefined) return { ...others, ...(text !== '' && { text }) };
  const line = (said: unknown, index: number): string => {
    const request = requests[index];
    return said === 'scored' && request !== undefined ? scored(request) : JSON.stringify(said);
  };
  const last = text === 'scored' ? line(text, lines.length) : text;
  return {
    ...others,
    headers: { 'content-type': 'application/x-ndjson', 'x-model-version': '7' },
    text: lines.map((said, index) => line(said, index) + ends).join('') + last,
  };
}

function* inputOf({ requests, keys, inputFails }: ListCase) {
  for (const [index, one] of requests.entries()) {
    const request = typeof one === 'number' ? requestOf(one) : one;
    yield keys === undefined ? request : ([keys[index], request] as const);
  }
  if (inputFails) throw new Error('the input broke');
}

function checkOutcome(t: Test, outcome: Outcome<unknown>, expected: Expected): void {
  if (typeof expected === 'number' || expected.scored !== undefined) {
    const { scored: number = 0, ...fields } = typeof expected === 'number' ? { scored: expected } : expected;
    const scores = { ...SCORES, attention: number / 1000 };
    t.match(outcome, { prediction: { scores, modelVersion: '7', inferenceTimeMs: 0.2, ...fields } });
    t.equal(outcome.error, undefined);
    return;
  }
  const { error: name, has = '', ...fields } = expected;
  t.equal(outcome.prediction, undefined);
  if (name !== 'Error') t.equal(outcome.error?.name, name);
  t.ok(outcome.error?.message.includes(has), `${outcome.error?.message} has ${has}`);
  t.match(outcome.error, fields);
  t.ok(outcome.error?.requestId !== '' || outcome.error.status === undefined, 'told without a cast');
}

t.test('lists', async (t) => {
  for (const one of casesOf<ListCase>('lists')) await t.test(one.name, (t) => check(t, one));
});

async function check(t: Test, one: ListCase): Promise<void> {
  const { options = {}, lists, replies = [], expect } = one;
  const { timeoutMs = 10_000, deadlineMs = 60_000, ...retry } = options;
  const left = [...replies];
  const reply = (body: unknown) => replyTo(body as PredictionRequestBody[], left.shift());
  const { url, received } = await startScripted(t, reply);
  const { client, pauses } = clientTo(t, url, { retry, timeoutMs, deadlineMs });
  const outcomes: Outcome<unknown>[] = [];
  let thrown: unknown;
  try {
    const requests = inputOf(one) as Iterable<PredictionRequestBody>;
    for await (const outcome of client.predictMany(requests, lists)) outcomes.push(outcome);
  } catch (error) {
    thrown = error;
  }
  t.equal(outcomes.length, expect.outcomes.length);
  for (const [index, expected] of expect.outcomes.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) continue;
    t.match(outcome, { index, key: one.keys?.[index] ?? index });
    checkOutcome(t, outcome, expected);
  }
  t.equal((thrown as Error | undefined)?.name, expect.throws);
  t.ok(expect.has === undefined || String(thrown).includes(expect.has), String(thrown));
  const sent = received.map(({ body }) => (body as PredictionRequestBody[]).map(numberOf));
  t.strictSame(sent, expect.sent);
  t.strictSame(pauses, expect.pausesMs);
  const headers = { 'x-api-key': KEY, 'content-type': 'application/x-ndjson', 'x-deadline-ms': /^\d+$/ };
  for (const one of received) t.match(one, { path: '/predict', headers });
}

/** Requests 0, 1, 2 … without end; counts those that were taken. */
function endless() {
  const taken = { count: 0, isClosed: false };
  async function* input(): AsyncGenerator<PredictionRequestBody> {
    try {
      for (;;) yield requestOf(taken.count++);
    } finally {
      taken.isClosed = true;
    }
  }
  return { taken, input: input() };
}

const answered = (body: unknown): Reply => replyTo(body as PredictionRequestBody[]);

t.test('no more is read ahead than a list holds', async (t) => {
  const { url } = await startScripted(t, answered);
  const { client } = clientTo(t, url);
  const { taken, input } = endless();
  let given = 0;
  let most = 0;
  for await (const { index } of client.predictMany(input, { listMax: 5 })) {
    t.equal(index, given++);
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, taken.count - (given - 1));
    if (given === 100) break;
  }
  t.ok(most <= 5, `${most} read ahead`);
  t.ok(taken.isClosed, 'the input was ended');
});

t.test('nothing is taken before the first outcome is asked for', async (t) => {
  const { client } = clientTo(t, 'http://127.0.0.1:1');
  const { taken, input } = endless();
  await client.predictMany(input).return();
  t.equal(taken.count, 0);
});

t.test('a signal ends the run with its reason', async (t) => {
  const { url } = await startScripted(t, () => ({ silent: true }));
  const { client } = clientTo(t, url);
  const controller = new AbortController();
  const reason = new Error('enough');
  setTimeout(() => controller.abort(reason), 50);
  const { taken, input } = endless();
  await t.rejects(client.predictMany(input, { signal: controller.signal }).next(), reason);
  t.ok(taken.isClosed);
  await t.rejects(client.predictMany(input, { signal: controller.signal }).next(), reason);
});

t.test('an answer that takes its time, but goes on, is waited for', async (t) => {
  async function* slowly({ body, signal }: Outgoing): AsyncGenerator<Uint8Array> {
    for (const line of body.trim().split('\n')) {
      await new Promise((resolve) => setTimeout(resolve, 400));
      signal.throwIfAborted();
      yield Buffer.from(`${scored(JSON.parse(line) as PredictionRequestBody)}\n`);
    }
  }
  const transport: Transport = {
    close: async () => undefined,
    send: async (list) => ({ status: 200, headers: {}, body: slowly(list) }),
  };
  const options = { transport, timeoutMs: 2_000, retry: { retries: 0 } };
  const { client } = clientTo(t, 'http://127.0.0.1:1', options);
  for await (const { error } of client.predictMany([1, 2, 3, 4, 5, 6].map(requestOf)))
    t.equal(error, undefined);
});

t.test('a list that was split is finished before what ends the run is told', async (t) => {
  const { url } = await startScripted(t, (body) => {
    const requests = body as PredictionRequestBody[];
    if (requests.some((request) => numberOf(request) >= 4)) return { status: 403 };
    const finding = { loc: ['body'], msg: 'at most 1', type: 'too_long' };
    return requests.length > 1 ? { status: 422, body: { detail: [finding] } } : answered(body);
  });
  const { client } = clientTo(t, url);
  const given: number[] = [];
  const requests = Array.from({ length: 8 }, (_, index) => requestOf(index));
  await t.rejects(async () => {
    for await (const { index } of client.predictMany(requests, { listMax: 4 })) given.push(index);
  }, KeyRejectedError);
  t.strictSame(given, [0, 1, 2, 3]);
});

t.test('limits out of range are refused at once', async (t) => {
  const { client } = clientTo(t, 'http://127.0.0.1:1');
  for (const options of [{ listMax: 0 }, { listMax: 1_001 }, { listMax: 1.5 }, { listBytesMax: 0 }])
    t.throws(() => client.predictMany([], options), { name: 'RangeError' });
});

t.test('no error of a run shows a value', async (t) => {
  const { client } = clientTo(t, 'http://127.0.0.1:1', { retry: { retries: 0 } });
  const requests = [null, 7, {}, requestOf(61_873)] as PredictionRequestBody[];
  for await (const { error } of client.predictMany(requests)) {
    t.ok(error instanceof Error);
    t.notMatch(String(error), /61.?873/);
  }
});
