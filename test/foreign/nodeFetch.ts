import { pieces, serveCases, TIMEOUT_MS, type Job } from './job.js';

/** A caller with `fetch`: `nodeFetch.js PORT`. See test/fixtures/foreign.ts. */

const url = `http://127.0.0.1:${process.argv[2]}/predict`;

/** The body, or half of it, in pieces; `ended` is called after the last one. */
function stream(body: Buffer, isHalf: boolean, ended: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      let sent = 0;
      for await (const piece of pieces(body)) {
        controller.enqueue(piece);
        sent += piece.length;
        if (isHalf && sent >= body.length / 2) return ended();
      }
      controller.close();
      ended();
    },
  });
}

async function send({ way, isKept }: Job, body: Buffer): Promise<string> {
  const abort = new AbortController();
  const dropped = way === 'cut' || way === 'left' ? (): void => abort.abort() : (): void => undefined;
  const options: RequestInit & { readonly duplex: 'half' } = {
    method: 'POST',
    headers: {
      'X-API-Key': process.env['ACUITY_API_KEY'] ?? '',
      'Content-Type': 'application/json',
      ...(isKept ? {} : { Connection: 'close' }),
    },
    body: way === 'plain' ? new Uint8Array(body) : stream(body, way === 'cut', dropped),
    duplex: 'half',
    signal: AbortSignal.any([abort.signal, AbortSignal.timeout(TIMEOUT_MS)]),
  };
  const response = await fetch(url, options);
  return `${response.status} ${await response.text()}`;
}

await serveCases(async (job, report) => {
  for (const body of job.bodies) {
    const sending = send(job, body);
    if (!job.isDropped) report(await sending);
    else await sending.catch((error: unknown) => isAbort(error));
  }
});

function isAbort(error: unknown): void {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error;
}
