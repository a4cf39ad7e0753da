import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sourcePath } from '#bench/paths.js';
import { writeRequests } from './requestFile.js';
import type { Load, Measurement } from '#acuity/load/measurement.js';

const WRK = 'wrk';
/** A slow peer's answers late under load are slow, not lost. */
const TIMEOUT_S = 30;
/** wrk exits a little behind its duration, and waits for a server that hangs. */
const GRACE_MS = 60_000;

export function hasWrk(): boolean {
  return spawnSync(WRK, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** wrk with one thread, so that the same share of the machine is left to every server. */
export async function closedLoopWithWrk({
  target,
  bodies,
  connections,
  seconds,
}: Load): Promise<Measurement> {
  const folder = await mkdtemp(join(tmpdir(), 'acuity-wrk-'));
  try {
    const file = join(folder, 'requests');
    await writeRequests(file, target.key, bodies);
    const { stdout } = await promisify(execFile)(
      WRK,
      [
        '-t1',
        `-c${connections}`,
        `-d${seconds}s`,
        '--timeout',
        `${TIMEOUT_S}s`,
        '-s',
        sourcePath('load/predict.lua'),
        `http://127.0.0.1:${target.port}/predict`,
        '--',
        file,
      ],
      { timeout: seconds * 1000 + GRACE_MS },
    );
    return measured(stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function measured(stdout: string): Measurement {
  const line = /^MEASURED (.*)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`wrk printed no measurement but: ${stdout.trim()}`);
  return JSON.parse(line) as Measurement;
}
