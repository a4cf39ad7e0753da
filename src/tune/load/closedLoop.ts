import { Connection, requestBytes } from './connection.js';
import { latencyQuantiles, type Load, type Measurement } from './measurement.js';

/**
 * Keeps every connection busy with one request at a time, from this process. That costs some 30 µs a request, so on
 * many cores the generator may limit a fast server: `generatorBusy` says how close it came.
 */
export async function runClosedLoop(load: Load): Promise<Measurement & { readonly generatorBusy: number }> {
  const { target, bodies, connections, seconds } = load;
  const requests = bodies.map((body) => requestBytes(target, body));
  const open = await Promise.all(
    Array.from({ length: connections }, () => Connection.open(target.socket ?? target.port)),
  );
  const tally: Tally = { errors: 0, latenciesMs: [] };
  const startMs = performance.now();
  const idle = performance.eventLoopUtilization();
  const endMs = startMs + seconds * 1000;
  try {
    await Promise.all(
      open.map((connection, index) => keepBusy(connection, { requests, index, endMs, tally })),
    );
  } finally {
    for (const connection of open) connection.close();
  }
  const elapsedS = (performance.now() - startMs) / 1000;
  const sorted = Float64Array.from(tally.latenciesMs).toSorted();
  const measured = { requests: sorted.length, seconds: elapsedS, ...latencyQuantiles(sorted) };
  const { utilization: generatorBusy } = performance.eventLoopUtilization(idle);
  return { ...measured, errors: tally.errors, generatorBusy };
}

interface Tally {
  errors: number;
  readonly latenciesMs: number[];
}

interface Turn {
  readonly requests: readonly Buffer[];
  readonly index: number;
  readonly endMs: number;
  readonly tally: Tally;
}

async function keepBusy(connection: Connection, { requests, index, endMs, tally }: Turn): Promise<void> {
  for (let turn = index, nowMs = performance.now(); nowMs < endMs; turn++) {
    const request = requests[turn % requests.length];
    if (request === undefined) throw new RangeError('no requests');
    let status: number;
    try {
      ({ status } = await connection.send(request));
    } catch {
      tally.errors++; // the connection is gone
      return;
    }
    const doneMs = performance.now();
    if (status === 200) tally.latenciesMs.push(doneMs - nowMs);
    else tally.errors++;
    nowMs = doneMs;
  }
}
