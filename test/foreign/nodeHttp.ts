import { once } from 'node:events';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { pieces, serveCases, PAUSE_MS, TIMEOUT_MS, type Job } from './job.js';

/** A caller with `node:http`: `nodeHttp.js PORT`. See test/fixtures/foreign.ts. */

const port = Number(process.argv[2]);

function open(job: Job, agent: Agent, length: number): ClientRequest {
  return request({
    host: '127.0.0.1',
    port,
    path: '/predict',
    method: 'POST',
    agent,
    timeout: TIMEOUT_MS,
    headers: {
      'X-API-Key': process.env['ACUITY_API_KEY'],
      'Content-Type': 'application/json',
      ...(job.way === 'chunked' ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': length }),
      ...(job.way === 'continued' ? { Expect: '100-continue' } : {}),
    },
  });
}

async function write(call: ClientRequest, { way }: Job, body: Buffer): Promise<void> {
  if (way === 'apart') {
    call.flushHeaders();
    await pause(PAUSE_MS);
  }
  if (way === 'continued') {
    call.flushHeaders();
    await once(call, 'continue');
  }
  if (way === 'pieces' || way === 'chunked') {
    for await (const piece of pieces(body)) call.write(piece);
    call.end();
  } else {
    call.end(body);
  }
}

/** Sends half of the body, or all of it, and drops the connection. */
async function drop(call: ClientRequest, { way }: Job, body: Buffer): Promise<void> {
  call.on('error', () => undefined); // ours: the connection is dropped in the middle
  const sent = way === 'cut' ? body.subarray(0, body.length / 2) : body;
  await new Promise<void>((resolve) => call.write(sent, () => resolve()));
  if (way === 'cut') await pause(PAUSE_MS);
  call.destroy();
}

async function answer(call: ClientRequest, job: Job, body: Buffer): Promise<string> {
  const answered = once(call, 'response') as Promise<[IncomingMessage]>;
  await Promise.all([answered, write(call, job, body)]);
  const [response] = await answered;
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  return `${response.statusCode} ${text}`;
}

await serveCases(async (job, report) => {
  const agent = new Agent({ keepAlive: job.isKept, maxSockets: 1 });
  for (const body of job.bodies) {
    const call = open(job, agent, body.length);
    if (job.isDropped) await drop(call, job, body);
    else report(await answer(call, job, body));
  }
  agent.destroy();
});
