import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { PredictionResponseSchema, type PredictionResponse } from '#acuity/contract/response.js';
import { metricsOf } from '../fixtures/atRest.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, sendOn } from '../fixtures/connection.js';
import { valueOf } from '../fixtures/promtool.js';
import { startServer } from '../fixtures/server.js';

/** A running server with the shipped network: plain and explained requests beside each other. */

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const headers = { 'X-API-Key': server.key };
const check = Compile(PredictionResponseSchema);

/** What is the same in every answer to one request. */
function lasting(body: string): object {
  return { ...(JSON.parse(body) as PredictionResponse), inference_time_ms: 0 };
}

t.test('explained and plain requests beside each other get the same scores', async (t) => {
  const connections = await Promise.all(Array.from({ length: 4 }, () => Connection.open(server.port)));
  await Promise.all(
    connections.map(async (connection, caller) => {
      for (let seed = 0; seed < 12; seed++) {
        const request = requestBody(seed % 6, seed + 1);
        const isExplained = (seed + caller) % 2 === 0;
        const body = JSON.stringify(isExplained ? { ...request, explain: true } : request);
        const reply = await sendOn(connection, { headers, body });
        t.equal(reply.status, 200, reply.body);
        const { explanation, ...plain } = lasting(reply.body) as PredictionResponse;
        t.ok(check.Check(JSON.parse(reply.body)));
        t.equal(explanation !== undefined, isExplained);
        const alone = await sendOn(connection, { headers, body: JSON.stringify(request) });
        t.strictSame(plain, lasting(alone.body));
        if (explanation === undefined) continue;
        t.equal(explanation.quality.sessions, seed % 6);
        t.equal(explanation.against, seed % 6 > 0 ? 'last nights' : 'typical');
      }
    }),
  );
  for (const connection of connections) connection.destroy();
});

t.test('the metrics count explained requests and their cost', async (t) => {
  const series = await metricsOf(server.adminPort);
  t.equal(valueOf(series, 'acuity_batch_rows_sum', { graph: 'explain' }), 24);
  t.ok(valueOf(series, 'acuity_run_seconds_total', { graph: 'explain' }) > 0);
});

t.test(
  'the first that asks is answered, though the service is told to stop while its worker starts',
  async (t) => {
    const stopped = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
    const connection = await Connection.open(stopped.port);
    const body = JSON.stringify({ ...requestBody(2, 1), explain: true });
    const reply = sendOn(connection, { headers: { 'X-API-Key': stopped.key }, body });
    const bytesRead = async (): Promise<number> =>
      valueOf(await metricsOf(stopped.adminPort), 'acuity_request_body_bytes_total');
    while (!((await bytesRead()) > 0)) await pause(1); // until it is admitted
    stopped.signal('SIGTERM');
    t.equal((await reply).status, 200);
    connection.destroy();
    t.same(await stopped.exited, { code: 0, signal: null });
  },
);
