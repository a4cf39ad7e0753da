import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { sourcePath } from '#bench/paths.js';
import { JSON_TYPE } from '#acuity/contract/mediaTypes.js';
import { withRequestFile } from './requestFile.js';
import type { Load, Measurement } from '#acuity/load/measurement.js';

const WRK = 'wrk';
/** Late answers of a slow peer under load are slow, not lost. */
const TIMEOUT_S = 30;
/** wrk exits shortly after its duration, and waits for a server that hangs. */
const GRACE_MS = 60_000;

export function hasWrk(): boolean {
  return spawnSync(WRK, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** wrk with one thread, so that every server has the same share of the machine. */
export function closedLoopWithWrk(load: Load): Promise<Measurement> {
  const { target, connections, seconds } = load;
  return withRequestFile(load, async (file) => {
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
        load.mediaType ?? JSON_TYPE,
      ],
      { timeout: seconds * 1000 + GRACE_MS },
    );
    return measured(stdout);
  });
}

function measured(stdout: string): Measurement {
  const line = /^MEASURED (.*)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`wrk printed no measurement but: ${stdout.trim()}`);
  return JSON.parse(line) as Measurement;
}
