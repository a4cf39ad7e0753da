import { Agent, request } from 'node:http';
import t from 'tap';
import { startServer, type RunningServer } from '../fixtures/server.js';

const CONNECTIONS = 20;
/** So low that a starved machine asks for more too. */
const RATE_PER_S = 5;
const BURST = 2 * RATE_PER_S;
const SENDING_MS = 1_500;

/** Statuses of what one keep-alive connection gets when it asks without pause. */
async function hammer(server: RunningServer, key: string, untilMs: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statuses: number[] = [];
  while (performance.now() < untilMs) statuses.push(await post(server, key, agent));
  agent.destroy();
  return statuses;
}

function post(server: RunningServer, key: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        port: server.port,
        host: '127.0.0.1',
        path: '/predict',
        method: 'POST',
        agent,
        headers: { 'X-API-Key': key },
      },
      (response) => response.resume().once('end', () => resolve(response.statusCode ?? 0)),
    );
    call.once('error', reject);
    call.end('{"current_session":{}}');
  });
}

t.test('a key is held to one bucket over connections on two event loops', async (t) => {
  const server = await startServer(t, {
    env: { ACUITY_HTTP_THREADS: '2', ACUITY_WORKERS: '2' },
    keys: [{ kind: 'live', ratePerS: RATE_PER_S, dailyMax: null }],
  });
  const key = server.keys[1]?.key ?? '';
  const startMs = performance.now();
  const untilMs = startMs + SENDING_MS;
  const statuses = (
    await Promise.all(Array.from({ length: CONNECTIONS }, () => hammer(server, key, untilMs)))
  ).flat();
  const elapsedS = (performance.now() - startMs) / 1000;
  const served = statuses.filter((status) => status === 200).length;
  const limited = statuses.filter((status) => status === 429).length;
  t.equal(served + limited, statuses.length, 'nothing but 200 and 429');
  // The bucket's arithmetic, at any speed of the machine; two buckets would give the burst twice.
  t.ok(
    served <= BURST + RATE_PER_S * elapsedS + 1,
    `${served} of ${statuses.length} served in ${elapsedS} s`,
  );
  t.ok(limited > 0, 'more was asked for than the bucket holds');
});
