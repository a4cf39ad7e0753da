import type { Measurement } from '#acuity/load/measurement.js';
import type { Load } from '#acuity/load/measurement.js';
import { saturate } from '#acuity/load/saturate.js';
import { hasWrk, saturateWithWrk } from '#bench/load/wrk.js';
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

/** Runs `use` on the service, one event loop and one worker unless `env` says otherwise. */
export async function withService<T>(
  { key, folder }: BenchContext,
  env: Readonly<Record<string, string>>,
  use: (server: ServerProcess) => Promise<T>,
): Promise<T> {
  const command = acuity(1).command(key);
  const server = await startServer({ ...command, env: { ...command.env, ...env } }, folder);
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
  return Number.isInteger(seconds) && hasWrk() ? saturateWithWrk : saturate;
}
