import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '#bench/paths.js';
import type { Load, Measurement } from '#acuity/load/measurement.js';
import { withRequestFile } from './requestFile.js';

/** What `bench/peers/rust/setup.sh` builds beside the peer. */
const PACED = join(ROOT, '.build/rust/release/acuity-paced');
const GRACE_MS = 30_000;

export interface PacedLoad extends Load {
  readonly rate: number;
  /**
   * How long requests that were due without a free connection may still be sent after the end; those not sent by then
   * are errors. With 0 they count only as offered, not as errors.
   */
  readonly lateSeconds: number;
}

export function hasPaced(): boolean {
  return existsSync(PACED);
}

/**
 * Sends `rate` requests per second, evenly spaced, regardless of the answers; a latency counts from when the request
 * was due. It costs a tenth of the open loop in this process, so it can reach rates near the service's saturation on
 * the same cores.
 */
export function openLoopPaced(load: PacedLoad): Promise<Measurement> {
  const { target, connections, seconds, rate, lateSeconds } = load;
  const settings = [target.port, connections, Math.round(rate), seconds, lateSeconds].map(String);
  return withRequestFile(load, async (file) => {
    const { stdout } = await promisify(execFile)(PACED, [...settings, file], {
      timeout: seconds * 1000 + GRACE_MS,
    });
    return JSON.parse(stdout) as Measurement;
  });
}
