import t, { type Test } from 'tap';
import type { IgnoredMeasurement, Prediction } from '#acuity/client/answer.js';
import { AcuityClient, type AcuityClientOptions } from '#acuity/client/client.js';
import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/client/contract.js';
import * as errors from '#acuity/client/errors.js';
import { fieldWarnings } from '#acuity/client/fieldNames.js';
import { memoryStorage } from '#acuity/client/history.js';
import type { Person } from '#adapters/person.js';
import { SessionBuilder, type Sample } from '#adapters/sessionBuilder.js';
import type { Stage, StageDurations } from '#adapters/sleep.js';
import type { OpenTransport } from '#acuity/client/transport.js';
import { undiciTransport } from '#acuity/client/undici.js';
import { UnitError } from '#adapters/unitChecks.js';
import { startScripted, type Reply } from '../fixtures/scriptedServer.js';
import { startServer } from '../fixtures/server.js';
import { casesOf, checkHistories, KEY, SCORES } from '../fixtures/sharedCases.js';

const REQUEST: PredictionRequestBody = { current_session: { HR_night: [61.8731, 62, 63] } };
type Named = Readonly<Record<string, unknown>>;

interface CaseOptions {
  readonly retries?: number;
  readonly firstPauseMs?: number;
  readonly pauseMaxMs?: number;
  readonly timeoutMs?: number;
  readonly deadlineMs?: number;
}

const TRANSPORTS: Readonly<Record<string, OpenTransport | undefined>> = {
  fetch: undefined,
  undici: undiciTransport,
};

/** A client that waits for nothing and draws 0.5. */
function clientTo(t: Test, url: string, options: Partial<AcuityClientOptions> = {}) {
  const pauses: number[] = [];
  const parts = { random: () => 0.5, pause: async (ms: number) => void pauses.push(ms) };
  const client = new AcuityClient({ url, apiKey: KEY, ...options }, parts);
  t.teardown(() => client.close());
  return { client, pauses };
}

function optionsOf(
  name: string,
  { timeoutMs, deadlineMs, ...retry }: CaseOptions,
): Partial<AcuityClientOptions> {
  const transport = TRANSPORTS[name];
  return {
    retry,
    ...(transport === undefined ? {} : { transport }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
}

/** Replies one after the other; one more than there are breaks the connection, and the case. */
function inTurn(replies: readonly Reply[]): () => Reply {
  const left = [...replies];
  return () => left.shift() ?? { broken: true };
}

interface Expected {
  readonly error?: string;
  readonly has?: string;
  readonly pausesMs?: readonly number[];
  readonly scores?: ScoreRecord;
  readonly modelVersion?: string;
  readonly inferenceTimeMs?: number;
  readonly unmeasured?: ScoreRecord;
  readonly measurementsIgnored?: readonly IgnoredMeasurement[];
}

async function checkOutcome(t: Test, client: AcuityClient, expected: Expected): Promise<void> {
  const { error, has = '', pausesMs: _, ...fields } = expected;
  const outcome: unknown = await client.predict(REQUEST).catch((caught: unknown) => caught);
  if (error === undefined) {
    t.match(outcome, fields);
    return;
  }
  t.ok(outcome instanceof errors.AcuityError);
  t.equal((outcome as Error).name, error);
  t.ok((outcome as Error).message.includes(has), `${(outcome as Error).message} has ${has}`);
  for (const [name, value] of Object.entries(fields)) {
    t.strictSame((outcome as unknown as Named)[name], value, name);
  }
}

interface RetryCase {
  readonly name: string;
  readonly options?: CaseOptions;
  readonly replies: readonly Reply[];
  readonly expect: Expected & { readonly pausesMs: readonly number[] };
}

interface RefusalCase {
  readonly name: string;
  readonly reply: Reply;
  readonly expect: Expected;
}

for (const transport of Object.keys(TRANSPORTS)) {
  t.test(`retries, by ${transport}`, async (t) => {
    for (const { name, options = {}, replies, expect } of casesOf<RetryCase>('retries')) {
      await t.test(name, async (t) => {
        const { url, received } = await startScripted(t, inTurn(replies));
        const { client, pauses } = clientTo(t, url, optionsOf(transport, options));
        await checkOutcome(t, client, expect);
        t.strictSame(pauses, expect.pausesMs);
        t.equal(received.length, expect.pausesMs.length + 1);
        const id = received[0]?.headers['x-request-id'];
        for (const { path, headers, body } of received) {
          t.strictSame([path, body], ['/predict', REQUEST]);
          t.match(headers, {
            'x-api-key': KEY,
            'content-type': 'application/json',
            'x-request-id': id,
            'x-deadline-ms': String(options.timeoutMs ?? 10_000),
          });
        }
      });
    }
  });

  t.test(`refusals, by ${transport}`, async (t) => {
    for (const { name, reply, expect } of casesOf<RefusalCase>('refusals')) {
      await t.test(name, async (t) => {
        const { url } = await startScripted(t, () => reply);
        await checkOutcome(t, clientTo(t, url, optionsOf(transport, { retries: 0 })).client, expect);
      });
    }
  });
}

t.test('histories', (t) => checkHistories(t, casesOf('history'), memoryStorage()));

type Series =
  | readonly (readonly [at: string, value: number | null])[]
  | { readonly from: string; readonly everyS: number; readonly values: readonly (number | null)[] };

interface Given {
  readonly at: string;
  readonly person?: Person;
  readonly heartRate?: Series;
  readonly respiratoryRate?: Series;
  readonly sleepStages?: readonly (readonly [stage: Stage, from: string, to: string])[];
  readonly sleepMinutes?: StageDurations;
  readonly sleepSeconds?: StageDurations;
  readonly night?: readonly [from: string, to: string];
  readonly zone?: string;
}

interface SessionCase {
  readonly name: string;
  readonly build: Given;
  readonly expect: {
    readonly session?: Session;
    readonly wokeOn?: string | null;
    readonly error?: string;
    readonly has?: string;
  };
}

function samplesOf(series: Series): Sample[] {
  if (!('from' in series)) return series.map(([at, value]) => ({ at, value }));
  const { from, everyS, values } = series;
  return values.map((value, index) => ({ at: Date.parse(from) + index * everyS * 1000, value }));
}

function built(given: Given): { session: Session; wokeOn: string | null } {
  const builder = new SessionBuilder(given.at);
  if (given.person) builder.person(given.person);
  if (given.heartRate) builder.heartRate(samplesOf(given.heartRate));
  if (given.respiratoryRate) builder.respiratoryRate(samplesOf(given.respiratoryRate));
  if (given.sleepStages)
    builder.sleepStages(given.sleepStages.map(([stage, from, to]) => ({ stage, from, to })));
  if (given.sleepMinutes) builder.sleepMinutes(given.sleepMinutes);
  if (given.sleepSeconds) builder.sleepSeconds(given.sleepSeconds);
  if (given.night) builder.night(...given.night);
  return { session: builder.build(), wokeOn: builder.wokeOn(given.zone) ?? null };
}

t.test('sessions', async (t) => {
  for (const { name, build, expect } of casesOf<SessionCase>('sessions')) {
    if (expect.session !== undefined) {
      const { session, wokeOn } = built(build);
      t.strictSame(session, expect.session, name);
      if (expect.wokeOn !== undefined) t.equal(wokeOn, expect.wokeOn, name);
      continue;
    }
    const error = t.throws(() => built(build), name) as unknown as Error;
    t.equal(error instanceof UnitError, expect.error === 'UnitError', name);
    t.ok(error.message.includes(expect.has ?? ''), `${error.message} has ${expect.has}`);
  }
});

interface CheckCase {
  readonly name: string;
  readonly request: PredictionRequestBody;
  readonly has?: string;
}

t.test('contradictions', async (t) => {
  for (const { name, request, has } of casesOf<CheckCase>('contradictions')) {
    await t.test(name, async (t) => {
      const { url, received } = await startScripted(t, () => ({ body: { ...SCORES, inference_time_ms: 0 } }));
      const outcome: unknown = await clientTo(t, url)
        .client.predict(request)
        .catch((caught: unknown) => caught);
      t.equal(outcome instanceof UnitError, has !== undefined, String(outcome));
      if (has !== undefined) t.ok((outcome as Error).message.includes(has), (outcome as Error).message);
      t.equal(received.length, has === undefined ? 1 : 0);
    });
  }
});

interface SlipCase {
  readonly name: string;
  readonly request: PredictionRequestBody;
  readonly meant: readonly { readonly name: string; readonly meant: string }[];
}

t.test('slips', async (t) => {
  for (const { name, request, meant } of casesOf<SlipCase>('slips')) {
    const told = fieldWarnings(request).map((slip) => ({ name: slip.name, meant: slip.meant }));
    t.strictSame(told, meant, name);
  }
});

interface ServiceCase {
  readonly name: string;
  readonly request: PredictionRequestBody;
  readonly expect: { readonly scored?: true; readonly findings?: readonly Named[] };
}

interface WorkedHistory {
  readonly name: string;
  readonly steps: readonly {
    readonly night?: string;
    readonly session: Session;
    readonly past: readonly number[];
    readonly from?: number | null;
    readonly lists?: readonly number[];
    readonly historyOf?: number;
  }[];
}

async function checkWorked(t: Test, client: AcuityClient, { steps }: WorkedHistory): Promise<void> {
  const answers: Prediction[] = [];
  const lists = (indices: readonly number[]) => ({
    past_sessions: indices.flatMap((index) => steps[index]?.session ?? []),
    past_targets: indices.flatMap((index) => answers[index]?.scores ?? []),
  });
  for (const [index, { session: current_session, night, from = index - 1, ...step }] of steps.entries()) {
    const isNew = step.lists !== undefined || from === null || from < 0;
    const answer = await client.predict({
      current_session,
      history: isNew ? '' : (answers[from]?.history ?? 'none'),
      ...(night !== undefined && { night }),
      ...(step.lists && lists(step.lists)),
    });
    const byLists = await client.predict({ current_session, ...lists(step.past) });
    t.strictSame(answer.scores, byLists.scores, `step ${index}`);
    if (step.historyOf !== undefined) t.equal(answer.history, answers[step.historyOf]?.history);
    answers.push(answer);
  }
}

t.test('the real service', async (t) => {
  const server = await startServer(t);
  const client = new AcuityClient({ url: `http://127.0.0.1:${server.port}`, apiKey: server.key });
  t.teardown(() => client.close());
  for (const { name, request, expect } of casesOf<ServiceCase>('service')) {
    const outcome: unknown = await client.predict(request).catch((caught: unknown) => caught);
    if (expect.scored) t.match(outcome, { scores: { C_SCORE: Number }, modelVersion: /./ }, name);
    else {
      const { findings } = outcome as errors.InvalidRequestError;
      t.strictSame(
        findings.map(({ loc, type }) => ({ loc, type })),
        expect.findings,
        name,
      );
    }
  }
  await t.test('worked histories', async (t) => {
    for (const one of casesOf<WorkedHistory>('histories')) {
      await t.test(one.name, (t) => checkWorked(t, client, one));
    }
  });
  const url = `http://127.0.0.1:${server.port}/predict`;
  for (const { name, request, has } of casesOf<CheckCase>('contradictions')) {
    const headers = { 'x-api-key': server.key, 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) });
    const { detail } = (await answer.json()) as { detail?: readonly { type: string; msg: string }[] };
    t.equal(answer.status, has === undefined ? 200 : 422, name);
    if (has !== undefined) {
      t.match(detail?.[0], { type: 'unit_error' });
      t.ok(detail?.[0]?.msg.includes(has), name);
    }
  }
});
