import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { pieces, serveCases, TIMEOUT_MS, type Job } from './job.js';

/** A caller with axios: `nodeAxios.js FOLDER PORT`, the folder that of axios. See test/fixtures/foreign.ts. */

const [, , folder = '', port = ''] = process.argv;

interface Answer {
  readonly status: number;
  readonly data: string;
}

const { post } = createRequire(import.meta.url)(folder) as {
  post(url: string, data: unknown, options: object): Promise<Answer>;
};

/** Half of a body; `ended` is called after it. */
async function* halfOf(body: Buffer, ended: () => void): AsyncGenerator<Uint8Array> {
  yield body.subarray(0, body.length / 2);
  await pause(5);
  ended();
  await pause(TIMEOUT_MS, undefined, { ref: false });
}

function dataOf(way: string, body: Buffer, drop: () => void): unknown {
  if (way === 'pieces' || way === 'chunked') return Readable.from(pieces(body));
  return way === 'cut' ? Readable.from(halfOf(body, drop)) : body;
}

async function send({ way, isKept }: Job, body: Buffer): Promise<Answer> {
  const abort = new AbortController();
  const headers = {
    'X-API-Key': process.env['ACUITY_API_KEY'],
    'Content-Type': 'application/json',
    ...(way === 'chunked' ? {} : { 'Content-Length': body.length }),
    ...(isKept ? {} : { Connection: 'close' }),
  };
  const answer = post(
    `http://127.0.0.1:${port}/predict`,
    dataOf(way, body, () => abort.abort()),
    {
      headers,
      signal: abort.signal,
      timeout: TIMEOUT_MS,
      // Otherwise it keeps the whole body for a redirect, and reads the answer as JSON.
      maxRedirects: 0,
      responseType: 'text',
      transformResponse: (data: string) => data,
      validateStatus: () => true,
      proxy: false,
    },
  );
  if (way === 'left') setTimeout(() => abort.abort(), 2);
  return answer;
}

await serveCases(async (job, report) => {
  for (const body of job.bodies) {
    const sending = send(job, body);
    if (job.isDropped) await sending.catch(() => undefined);
    else {
      const { status, data } = await sending;
      report(`${status} ${data}`);
    }
  }
});
