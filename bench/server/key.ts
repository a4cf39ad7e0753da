import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { digestOf } from '#acuity/auth/key.js';
import { SERVICE_ENTRY } from '#bench/paths.js';
import { plainEnvironment } from './environment.js';

/** A key for the length of a bench. */
export interface BenchKey {
  readonly key: string;
  /** SHA-256 of the key, base64url: the peers get only this. */
  readonly digest: string;
  /** Where the service finds it. */
  readonly location: string;
}

/** Lets the service itself issue a live key without limits, into a store in `folder`. */
export async function issueKey(folder: string): Promise<BenchKey> {
  const location = `file:${join(folder, 'keys.json')}`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [SERVICE_ENTRY, 'keys', 'issue', '--kind', 'live', '--rate', 'unlimited', '--json'],
    { env: plainEnvironment({ ACUITY_KEYS: location }) },
  );
  const { key } = JSON.parse(stdout) as { key: string };
  return { key, digest: digestOf(key).toString('base64url'), location };
}
