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

interface PacedLoad extends Load {
  readonly rate: number;
  /**
   * How long what was due and found no connection may still be sent behind the end; what could not be sent then is an
   * error. With 0 it was only offered, and nothing more is said of it.
   */
  readonly lateSeconds: number;
}

export function hasPaced(): boolean {
  return existsSync(PACED);
}

/**
 * Sends `rate` requests a second, evenly spaced, whatever the answers do; a latency counts from the moment at which
 * its request was due. It costs a tenth of what the open loop in this process does, so that rates near what saturates
 * the service can be kept on the same cores.
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
