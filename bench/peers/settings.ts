import { createHash } from 'node:crypto';

/** Settings that the runner passes to a peer, as environment variables with the same names for every language. */
export interface PeerSettings {
  /** Whether it is the key: a look-up of its hash, without states, limits or quotas. */
  isKnownKey(key: unknown): boolean;
  readonly modelFolder: string;
}

/** Takes the settings from the environment. Call it before a native library loads. */
export function peerSettings(): PeerSettings {
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
  const known = new Set([required('BENCH_KEY_DIGEST')]);
  return {
    isKnownKey: (key) =>
      typeof key === 'string' && known.has(createHash('sha256').update(key).digest('base64url')),
    modelFolder: required('BENCH_MODEL'),
  };
}

/** Prints the ready line of a peer, in the form of the service's own. */
export function announce(port: number | null): void {
  const socket = process.env['BENCH_SOCKET'];
  process.stdout.write(`${JSON.stringify({ event: 'listening', pid: process.pid, port, socket })}\n`);
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: bench/peers.ts starts the peers`);
  return value;
}
