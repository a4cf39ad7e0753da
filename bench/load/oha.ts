import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { JSON_TYPE } from '#acuity/contract/mediaTypes.js';
import type { Load, Measurement } from '#acuity/tune/load/measurement.js';
import { ROOT } from '#bench/paths.js';

/** The program that `bench/setup.sh` builds. */
const OHA = join(ROOT, '.build/tools/bin/oha');
const TIMEOUT_S = 30;
const GRACE_MS = 60_000;
const OUTPUT_MAX = 2 ** 26;
const MICROS_PER_S = 1e6;

/** Why oha can't run here; undefined where it can. */
export function ohaUnavailable(): string | undefined {
  return existsSync(OHA) ? undefined : 'oha is absent: bench/setup.sh builds it where cargo is';
}

export interface RateLoad extends Load {
  /** Requests per second, independent of the answers. */
  readonly rate: number;
}

/** The part of oha's JSON that is read; its latencies are in seconds. */
interface OhaOutput {
  readonly summary: { readonly total: number };
  readonly latencyPercentiles: Readonly<Record<'p50' | 'p99' | 'p99.9', number | null>>;
  readonly statusCodeDistribution: Readonly<Record<string, number>>;
  readonly errorDistribution: Readonly<Record<string, number>>;
}

/** The error of a request that was still due when the time was over: it was offered, and not answered. */
const LATE = /deadline/;

/**
 * Sends at a fixed rate. A latency counts from when the request was due (`--latency-correction`), so the time in which a
 * server is late is not left out. The key is an argument of oha, which the process list shows: it is of a store that
 * only this bench has.
 */
export async function fixedRate({
  target,
  bodies,
  connections,
  seconds,
  rate,
}: RateLoad): Promise<Measurement> {
  const folder = await mkdtemp(join(tmpdir(), 'acuity-oha-'));
  try {
    const lines = join(folder, 'bodies.ndjson');
    await writeFile(lines, bodies.map((body) => `${body}\n`).join(''));
    const load = ['-z', `${seconds}s`, '-q', String(rate), '-c', String(connections), '-t', `${TIMEOUT_S}s`];
    const request = ['-m', 'POST', '-T', JSON_TYPE, '-H', `X-API-Key: ${target.key}`, '-Z', lines];
    const told = ['--no-tui', '--latency-correction', '--output-format', 'json'];
    const by = target.socket === undefined ? [] : ['--unix-socket', target.socket];
    const url = `http://127.0.0.1:${target.port ?? 80}/predict`;
    const { stdout } = await promisify(execFile)(OHA, [...load, ...request, ...told, ...by, url], {
      timeout: seconds * 1000 + GRACE_MS,
      maxBuffer: OUTPUT_MAX,
    });
    return measurementOf(JSON.parse(stdout) as OhaOutput);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Requests that were still under way at the end are in neither count. */
export function measurementOf(output: OhaOutput): Measurement {
  const { summary, latencyPercentiles, statusCodeDistribution, errorDistribution } = output;
  const sum = (counts: readonly (readonly [string, number])[]): number =>
    counts.reduce((total, [, count]) => total + count, 0);
  const statuses = Object.entries(statusCodeDistribution);
  const broken = Object.entries(errorDistribution).filter(([what]) => !LATE.test(what));
  const at = (percentile: keyof OhaOutput['latencyPercentiles']): number =>
    (latencyPercentiles[percentile] ?? NaN) * MICROS_PER_S;
  return {
    requests: sum(statuses),
    seconds: summary.total,
    p50Micros: at('p50'),
    p99Micros: at('p99'),
    p999Micros: at('p99.9'),
    errors: sum(statuses.filter(([status]) => status !== '200')) + sum(broken),
  };
}
