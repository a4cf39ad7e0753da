import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '#acuity/base/clock.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { createReader, isBodyProblem } from '#acuity/pipeline/read.js';
import { respond } from '#acuity/pipeline/respond.js';
import type { ScoreHandler } from '#acuity/scoring/scorer.js';
import { announce } from './announce.js';
import { createKeyCheck } from './keyCheck.js';
import { peerSettings } from './settings.js';

/** The service's own reader, batches and pool behind node:http: what is left between the two is the front end. */
const BATCH_MAX = 32;
const QUEUE_MAX = 2048;
const DEADLINE_MS = 1000;
const HANG_MS = 5000;
const WORKERS = 1;

const { keyDigest, modelFolder } = peerSettings();
const { openPool, blocksFor } = await import('#acuity/scoring/pool.js');
const { Batcher } = await import('#acuity/scoring/batcher.js');
const bundle = await loadBundle(modelFolder);
const { version, thresholds } = bundle.manifest;
const isKnownKey = createKeyCheck(keyDigest);
const readRequest = createReader(DEFAULT_SERIES_LIMITS);

const pool = openPool({
  workers: WORKERS,
  batchMax: BATCH_MAX,
  blocks: blocksFor(QUEUE_MAX, BATCH_MAX, WORKERS),
  graphs: bundle.graphs,
  session: { intraOpThreads: 1, interOpThreads: 1, spinning: false },
  onWorkerLost: fail,
});
await pool.warmUp();
const scorer = new Batcher({
  model: { version, thresholds },
  pool,
  batchMax: BATCH_MAX,
  queueMax: QUEUE_MAX,
  deadlineMs: DEADLINE_MS,
  hangMs: HANG_MS,
  clock: systemClock,
  onFault: fail,
  onHung: () => fail(new Error('a worker hangs')),
});

const server = createServer((request, response) => {
  if (request.method !== 'POST' || request.url !== '/predict') return refuse(response, 404);
  if (!isKnownKey(request.headers['x-api-key'])) return refuse(response, 403);
  collect(request, (bytes) => score(bytes, response));
});
server.listen({ host: '127.0.0.1', port: 0 }, () => announce((server.address() as AddressInfo).port));

function collect(request: IncomingMessage, complete: (bytes: Uint8Array) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => complete(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
}

function score(bytes: Uint8Array, response: ServerResponse): void {
  const request = readRequest(bytes);
  if (isBodyProblem(request)) return refuse(response, request.kind === 'malformed' ? 400 : 422);
  const handler: ScoreHandler = {
    isGone: false,
    scored: (scores, offset, { inferMs }) =>
      answer(response, 200, respond(scores, offset, inferMs, thresholds)),
    failed: (cause) => refuse(response, cause === 'expired' ? 503 : 500),
  };
  if (scorer.admit(request, handler) !== 'admitted') refuse(response, 503);
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

function refuse(response: ServerResponse, status: number): void {
  answer(response, status, '{"detail":"refused"}');
}

/** A peer that fails must not go on being measured. */
function fail(error: Error): never {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
