import type { Measurement } from '#acuity/load/measurement.js';
import type { Load } from '#acuity/load/measurement.js';
import { runClosedLoop } from '#acuity/load/closedLoop.js';
import { hasWrk, closedLoopWithWrk } from '#bench/load/wrk.js';
import { acuity } from '#bench/peers/catalogue.js';
import type { BenchKey } from '#bench/server/key.js';
import { startServer, type ServerProcess } from '#bench/server/process.js';

/** What every section of the report measures with. */
export interface BenchContext {
  readonly folder: string;
  readonly key: BenchKey;
  /** Length of one measurement of a curve; the other sections take multiples of it. */
  readonly seconds: number;
  readonly repetitions: number;
  readonly say: (line: string) => void;
  /** Collects what makes figures unusable. */
  readonly faults: string[];
}

export interface Pressed extends Measurement {
  readonly cpuMicrosPerRequest: number;
  /** Of the first thread, which is the event loop where there is one. */
  readonly loopCpuMicrosPerRequest: number;
}

export interface Pressure {
  readonly what: string;
  readonly bodies: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}

/** How a service is set up where it differs from one event loop, one worker and its other defaults. */
export interface Setting {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
}

/** One event loop, one worker, everything else its default. */
export const AS_IS: Setting = { name: 'as is', env: {} };

/** Runs `use` on a service that is started for it. */
export async function withService<T>(
  { key, folder }: BenchContext,
  use: (server: ServerProcess) => Promise<T>,
  { name, env }: Setting = AS_IS,
): Promise<T> {
  const { args, file, env: plain } = acuity(1).command(key);
  const server = await startServer({ name, file, args, env: { ...plain, ...env } }, folder);
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}

/** Saturates a server and reads its processor time beside. Errors become faults. */
export async function press(
  context: BenchContext,
  server: ServerProcess,
  pressure: Pressure,
): Promise<Pressed> {
  const { what, bodies, connections, seconds } = pressure;
  const load: Load = { target: { port: server.port, key: context.key.key }, bodies, connections, seconds };
  const [cpuBefore, loopBefore] = [server.cpuMicros(), server.mainThreadCpuMicros()];
  const measurement = await generatorFor(seconds)(load);
  const { requests, errors } = measurement;
  if (errors > 0) context.faults.push(`${what}: ${errors} requests without a 200`);
  if (requests === 0) context.faults.push(`${what}: no request was answered`);
  return {
    ...measurement,
    cpuMicrosPerRequest: (server.cpuMicros() - cpuBefore) / requests,
    loopCpuMicrosPerRequest: (server.mainThreadCpuMicros() - loopBefore) / requests,
  };
}

/** wrk where it is installed; it knows whole seconds only. */
function generatorFor(seconds: number): (load: Load) => Promise<Measurement> {
  return Number.isInteger(seconds) && hasWrk() ? closedLoopWithWrk : runClosedLoop;
}
