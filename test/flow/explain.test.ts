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
        t.equal('usual' in explanation.scores.attention, seed % 6 > 0);
      }
    }),
  );
  for (const connection of connections) connection.destroy();
});

t.test('the metrics tell how many were explained, and what that cost', async (t) => {
  const series = await metricsOf(server.adminPort);
  t.equal(valueOf(series, 'acuity_batch_rows_sum', { graph: 'explain' }), 24);
  t.ok(valueOf(series, 'acuity_run_seconds_total', { graph: 'explain' }) > 0);
});
