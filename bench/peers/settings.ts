/** The settings that the runner passes to a peer, as environment variables with the same names for every language. */
export interface PeerSettings {
  /** SHA-256 of the only accepted key, base64url. */
  readonly keyDigest: string;
  readonly modelFolder: string;
}

/** Takes the settings from the environment. Call it before a native library loads. */
export function peerSettings(): PeerSettings {
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
  return { keyDigest: required('BENCH_KEY_DIGEST'), modelFolder: required('BENCH_MODEL') };
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: bench/peers.ts starts the peers`);
  return value;
}
