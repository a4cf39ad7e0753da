import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AcuityClient } from '#acuity/client/client.js';
import { OverloadedError } from '#acuity/client/errors.js';
import { NodeTransport, type Transport } from '#acuity/client/transport.js';
import type { ScoreHandler } from '#acuity/scoring/scorer.js';
import { messageOf } from '#acuity/base/errors.js';
import { createKey } from '#acuity/auth/key.js';
import { lacks } from '#fixtures/haproxy.js';
import { answer, FakeScorer, openLoop } from '#fixtures/loop.js';
import { cleanEnvironment, REPOSITORY } from '#fixtures/repository.js';
import { startServer, type RunningServer, type Teardown } from '#fixtures/server.js';
import { Count, skippedTrial, type Form, type Part, type Trial } from './part.js';

/** Callers who wait as told: no request is lost to a rate limit, and few to an overload. */

const CALLERS = 16;
const NIGHTS: Readonly<Record<Form, number>> = { short: 60, long: 1_000 };
const REQUEST = { current_session: { age: 40 } };

/** Of the overloaded service: requests scored per second; as many may wait. */
const CAPACITY = 100;
const OVERLOAD_S: Readonly<Record<Form, number>> = { short: 3, long: 30 };
/** Load relative to the capacity: during the overload, and after it until all earlier requests are settled. */
const LOAD = { during: 2, after: 0.5 };
/** Each is a separate backend with its own connections and gate. */
const BACKENDS = 50;
const CONNECTIONS = 32;
const TICK_MS = 5;

export const patience: Part = {
  name: 'patience',
  about:
    'callers who wait as they are told: a demo key that many share, and twice the load that can be served',
  beyond: 'both clients, and real waits',
  async run(scope, { form, say }) {
    say('a demo key');
    const server = await startServer(scope, {
      env: { ACUITY_LOG_LEVEL: 'fatal' },
      keys: [{ kind: 'demo' }, { kind: 'demo' }],
    });
    const nights = NIGHTS[form];
    const [forTypeScript = '', forPython = ''] = server.keys.slice(1).map(({ key }) => key);
    const demo = await Promise.all([
      demoKey(server, forTypeScript, nights),
      demoKeyInPython(server, forPython, nights),
    ]);
    say('twice the load, as computed');
    const computed = await overloaded(scope, form, () => new NodeTransport(CONNECTIONS));
    say('twice the load, one second for all');
    const constant = await overloaded(scope, form, toldOneSecond);
    const what = `twice the load for ${OVERLOAD_S[form]} s, then half`;
    const order = new Count();
    order.add(computed.lost < constant.lost ? undefined : `${computed.lost} lost, ${constant.lost} without`);
    return [
      ...demo,
      trialOf(`${what}: \`Retry-After\` computed`, computed),
      trialOf(`${what}: 1 s for all`, constant),
      order.trial('the computed one loses less'),
    ];
  },
};

async function demoKey({ port }: RunningServer, apiKey: string, nights: number): Promise<Trial> {
  const count = new Count();
  const startMs = performance.now();
  let refused = 0;
  const onRetry = () => void refused++;
  const client = new AcuityClient({ url: `http://127.0.0.1:${port}`, apiKey, onRetry });
  let sent = 0;
  const call = async (): Promise<void> => {
    while (sent++ < nights) {
      const outcome = await client.predict(REQUEST).then(() => undefined, messageOf);
      count.add(outcome);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  await client.close();
  const seconds = (performance.now() - startMs) / 1000;
  return count.trial(
    `${CALLERS} callers on one demo key, TypeScript`,
    demoFigure({ count, refused, seconds }),
  );
}

const PYTHON = `
import json, logging, sys, threading, time
from acuity_client import AcuityClient
url, key, callers, nights = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
left, refused, failures, lock = iter(range(nights)), [], [], threading.Lock()
class Counts(logging.Handler):
    def emit(self, record):
        refused.append(record)
logging.getLogger("acuity_client").addHandler(Counts())
client = AcuityClient(base_url=url, api_key=key)
def call():
    while True:
        with lock:
            if next(left, None) is None:
                return
        try:
            client.predict({"current_session": {"age": 40}})
        except Exception as error:
            failures.append(str(error))
threads = [threading.Thread(target=call) for _ in range(callers)]
started = time.monotonic()
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(json.dumps({"refused": len(refused), "failures": failures, "seconds": time.monotonic() - started}))
`;

async function demoKeyInPython({ port }: RunningServer, key: string, nights: number): Promise<Trial> {
  const what = `${CALLERS} threads on one demo key, Python`;
  const prepared = join(REPOSITORY, '.build/python/bin/python');
  const python = existsSync(prepared) ? prepared : 'python3';
  if (lacks(python, '-c', 'import httpx')) return skippedTrial(what, 'there is no Python with httpx here');
  const args = ['-c', PYTHON, `http://127.0.0.1:${port}`, key, String(CALLERS), String(nights)];
  const child = spawn(python, args, {
    env: cleanEnvironment({ PYTHONPATH: join(REPOSITORY, 'packages/client-python/src') }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(child, 'close');
  const told = JSON.parse(said || '{"refused":0,"failures":["it ended without a word"],"seconds":0}') as {
    readonly refused: number;
    readonly failures: readonly string[];
    readonly seconds: number;
  };
  const count = new Count();
  for (const failure of told.failures) count.add(failure);
  while (count.tried < nights) count.add(undefined);
  return count.trial(what, demoFigure({ ...told, count }));
}

function demoFigure({ count, refused, seconds }: { count: Count; refused: number; seconds: number }): string {
  return `${count.tried - count.held} of ${count.tried} nights lost, ${refused} tries refused, ${seconds.toFixed(0)} s`;
}

/** Scores a fixed number per second, and queues as many. */
class PacedScorer extends FakeScorer {
  override queueMax = CAPACITY;

  override admit(request: unknown, waiting: ScoreHandler): 'admitted' | 'saturated' {
    if (!this.makeRoom()) return 'saturated';
    super.admit(request, waiting);
    this.pending = this.waiting.length;
    return 'admitted';
  }

  scoreFirst(count: number): void {
    for (const waiting of this.waiting.splice(0, count)) if (!waiting.isGone) answer(waiting);
    this.pending = this.waiting.length;
  }
}

interface Overloaded {
  readonly asked: number;
  readonly lost: number;
  /** From the end of the overload until the last call made during it was settled. */
  readonly recoveryS: number;
  /** Most attempts in a second after the overload. */
  readonly attemptsMax: number;
  readonly failures: readonly (string | undefined)[];
}

function trialOf(what: string, { asked, lost, recoveryS, attemptsMax, failures }: Overloaded): Trial {
  const count = new Count();
  for (const failure of failures) count.add(failure);
  const figure = `${lost} of ${asked} lost; settled after ${recoveryS.toFixed(0)} s, at most ${attemptsMax} tries a second meanwhile`;
  return count.trial(what, figure);
}

/** The fixed wait that every overload refusal had before it was computed. */
function toldOneSecond(): Transport {
  const transport = new NodeTransport(CONNECTIONS);
  return {
    close: () => transport.close(),
    async send(request) {
      const { status, headers, body } = await transport.send(request);
      return { status, headers: status === 503 ? { ...headers, 'retry-after': '1' } : headers, body };
    },
  };
}

/** A transport that tells of each attempt when its answer begins, or the connection breaks. */
function telling(transport: Transport, attempted: () => void): Transport {
  return {
    send: (request) => transport.send(request).finally(attempted),
    close: () => transport.close(),
  };
}

async function overloaded(scope: Teardown, form: Form, open: () => Transport): Promise<Overloaded> {
  const scorer = new PacedScorer();
  const loop = openLoop(scope, { scorer, anyKey: true, random: Math.random, retryAfterS: 1 });
  const startMs = performance.now();
  let scored = 0;
  const ticker = setInterval(() => {
    const due = Math.floor(((performance.now() - startMs) * CAPACITY) / 1000) - scored;
    scored += due;
    scorer.scoreFirst(due);
  }, TICK_MS);
  const endsMs = startMs + OVERLOAD_S[form] * 1000;
  const attempts = new Map<number, number>();
  const attempted = (): void => {
    const second = Math.floor((performance.now() - endsMs) / 1000);
    attempts.set(second, (attempts.get(second) ?? 0) + 1);
  };
  const url = `http://127.0.0.1:${loop.port}`;
  const clients = Array.from(
    { length: BACKENDS },
    () => new AcuityClient({ url, apiKey: createKey('live'), transport: telling(open(), attempted) }),
  );
  let lost = 0;
  let asked = 0;
  const failures: (string | undefined)[] = [];
  const call = async (at: number, counts: boolean): Promise<void> => {
    const outcome: unknown = await clients[at % BACKENDS]?.predict(REQUEST).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!counts) return;
    asked++;
    if (outcome instanceof OverloadedError) lost++;
    failures.push(
      outcome === undefined || outcome instanceof OverloadedError ? undefined : messageOf(outcome),
    );
  };
  const calls: Promise<void>[] = [];
  for (; performance.now() < endsMs; await pause(TICK_MS)) {
    const due = ((performance.now() - startMs) * LOAD.during * CAPACITY) / 1000;
    while (calls.length < due) calls.push(call(calls.length, true));
  }
  const settled = Promise.all(calls);
  const others: Promise<void>[] = [];
  for (const fromMs = performance.now(); (await Promise.race([settled, pause(TICK_MS)])) === undefined;) {
    const due = ((performance.now() - fromMs) * LOAD.after * CAPACITY) / 1000;
    while (others.length < due) others.push(call(others.length, false));
  }
  const recoveryS = (performance.now() - endsMs) / 1000;
  await Promise.all(others);
  clearInterval(ticker);
  for (const client of clients) await client.close();
  const after = [...attempts].filter(([second]) => second >= 0).map(([, count]) => count);
  return { asked, lost, recoveryS, attemptsMax: Math.max(...after), failures };
}
