import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_ENTRY } from '#bench/paths.js';
import { plainEnvironment } from '#bench/server/environment.js';
import type { BenchKey } from '#bench/server/key.js';
import { startServer } from '#bench/server/process.js';
import { cpuMicrosOf } from '#bench/server/usage.js';
import { runClosedLoop } from '#acuity/load/closedLoop.js';
import { bodiesOf } from '#acuity/load/payloads.js';

/** What one run cost. */
export interface Cost {
  readonly perSecond: number;
  /** Processor time of the process that scores, in microseconds a row. */
  readonly cpuMicros: number;
  readonly rssMiB: number;
}

const LOOK_MS = 20;
const CONNECTIONS = 64;
const DISTINCT_BODIES = 256;

/** Scores a lake; includes the start of the process. @throws Error if it fails or rows are missing */
export async function scoreLake(
  pattern: string,
  { rows, history, folder }: { rows: number; history: boolean; folder: string },
): Promise<Cost> {
  const out = join(folder, 'scores');
  rmSync(out, { recursive: true, force: true });
  const past = [...PAST, '--state', join(folder, 'scores', 'state')];
  const cost = await costOf(['score', pattern, '--out-dir', out, ...(history ? past : [])], rows);
  rmSync(out, { recursive: true, force: true });
  return cost;
}

/** Judges the scores of a lake by columns present in each row. @throws as `scoreLake` */
export function judgeLake(pattern: string, rows: number): Promise<Cost> {
  const outcomes = ['weight_kg:-attention', 'awakeSleepSeconds:stress', 'height_cm:valence'];
  return costOf(['judge', pattern, ...PAST, ...outcomes.flatMap((outcome) => ['--outcome', outcome])], rows);
}

const PAST = ['--person', 'person', '--order', 'at'];

async function costOf([command = '', ...args]: readonly string[], rows: number): Promise<Cost> {
  const startMs = performance.now();
  const child = spawn(process.execPath, [SERVICE_ENTRY, command, ...args], {
    env: plainEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  let cpuMicros = 0;
  let rssMiB = 0;
  // The process's statistics disappear when it ends, so read them until then.
  const looks = setInterval(() => {
    try {
      cpuMicros = cpuMicrosOf(child.pid ?? 0);
      rssMiB = peakMiBOf(child.pid ?? 0) || rssMiB;
    } catch {
      clearInterval(looks); // it has ended
    }
  }, LOOK_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(looks);
  const seconds = (performance.now() - startMs) / 1000;
  const scored = Number(/([\d,]+) lines/.exec(said)?.[1]?.replaceAll(',', ''));
  if (code !== 0 || scored !== rows) throw new Error(`acuity ${command} ended with ${code}: ${said}`);
  return { perSecond: rows / seconds, cpuMicros: cpuMicros / rows, rssMiB };
}

/** The same sessions over HTTP, from as many connections as fill the service; the caller shares its cores. */
export async function scoreOverHttp(key: BenchKey, seconds: number, folder: string): Promise<Cost> {
  const env = {
    ACUITY_KEYS: key.location,
    ACUITY_ADMIN_PORT: '0',
    ACUITY_LOG_LEVEL: 'error',
    ACUITY_DEADLINE_MS: '30000',
  };
  const server = await startServer(
    {
      name: 'acuity',
      file: process.execPath,
      args: [SERVICE_ENTRY, 'serve'],
      env: plainEnvironment({ ...env, ACUITY_PORT: '0' }),
    },
    folder,
  );
  try {
    const target = { port: server.port, key: key.key };
    const load = { target, bodies: bodiesOf('baseline', DISTINCT_BODIES), connections: CONNECTIONS };
    await runClosedLoop({ ...load, seconds: 2 });
    const before = server.cpuMicros();
    const { requests, seconds: took, errors } = await runClosedLoop({ ...load, seconds });
    if (errors > 0) throw new Error(`${errors} errors over HTTP`);
    const cpuMicros = (server.cpuMicros() - before) / requests;
    return { perSecond: requests / took, cpuMicros, rssMiB: server.rssBytes() / 2 ** 20 };
  } finally {
    await server.stop();
  }
}

/** Peak memory of a process so far. @throws Error if it has ended */
export function peakMiBOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}
