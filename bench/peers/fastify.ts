import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { requestSchema, type PredictionRequestBody } from '#acuity/contract/request.js';
import { PredictionResponseSchema, type PredictionResponse } from '#acuity/contract/response.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { announce, peerSettings } from './settings.js';

/**
 * What a good Node team would write first: Fastify with Ajv validation and its compiled serialiser, and ONNX Runtime
 * in process, one run per request. It lacks the service's logs, limits, metrics and deadlines.
 */
const BODY_BYTES_MAX = 4 * 1024 * 1024;

const { isKnownKey, modelFolder } = peerSettings();
const socket = process.env['BENCH_SOCKET'];
const { openInference } = await import('./inference.js'); // loads the native library
const { modelInputOf } = await import('./features.js');
const bundle = await loadBundle(modelFolder);
const inference = await openInference(bundle);

const app = Fastify({
  logger: false,
  bodyLimit: BODY_BYTES_MAX,
  // Neither option changes valid input, like in the service, and Fastify is faster with them.
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allowUnionTypes: true } },
});

app.addHook('onRequest', async (request, reply) => {
  if (isKnownKey(request.headers['x-api-key'])) return;
  await reply.code(403).send({ detail: 'Invalid or missing API key' });
});

app.post<{ Body: PredictionRequestBody }>(
  '/predict',
  { schema: { body: requestSchema(), response: { 200: PredictionResponseSchema } } },
  async (request, reply) => {
    const { past_sessions, past_targets, past_target } = request.body;
    if ((past_sessions ?? []).length !== (past_targets ?? past_target ?? []).length) {
      return reply.code(422).send({ detail: 'past_sessions and past_targets must have the same length' });
    }
    const input = modelInputOf(request.body);
    if (input === undefined) return reply.code(422).send({ detail: 'A series is in another unit' });
    const startMs = performance.now();
    const scores = await inference.score(input);
    return responseOf(scores, performance.now() - startMs);
  },
);

await app.listen(socket === undefined ? { host: '127.0.0.1', port: 0 } : { path: socket });
announce(socket === undefined ? (app.server.address() as AddressInfo).port : null);

function responseOf(scores: Float32Array, inferMs: number): PredictionResponse {
  const [composite = 0, attention = 0, memory = 0, reasoning = 0, stress = 0, valence = 0, arousal = 0] =
    scores;
  const { thresholds } = bundle.manifest;
  return {
    C_SCORE: hundredths(composite),
    attention: hundredths(attention),
    memory: hundredths(memory),
    reasoning: hundredths(reasoning),
    stress: hundredths(stress),
    valence: valence >= thresholds.valence ? 'High' : 'Low',
    arousal: arousal >= thresholds.arousal ? 'High' : 'Low',
    inference_time_ms: hundredths(inferMs),
  };
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
