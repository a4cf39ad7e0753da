import { FEATURES, ROW_CLAMP } from '#acuity/contract/features.js';
import { PAST_MAX } from '#rules/fields.js';
import { compiledPath, MODEL_FOLDER, SERVICE_ENTRY } from '#bench/paths.js';
import { plainEnvironment } from '#bench/server/environment.js';
import type { BenchKey } from '#bench/server/key.js';
import type { ServerCommand } from '#acuity/load/childServer.js';
import { RUST_PROGRAM, rustEnvironment, rustUnavailable } from './rust/command.js';

/** A server that is measured. */
export interface Peer {
  readonly name: string;
  readonly what: string;
  /** Whether it returns scores, which are then checked; the floor returns a constant. */
  readonly scores: boolean;
  command(key: BenchKey): ServerCommand;
  /** Why it can't run here; undefined if it can. */
  readonly unavailable?: string | undefined;
}

/** The service, one event loop and one worker; `env` differs from its other defaults. */
export function service({
  name,
  what,
  env,
}: Pick<Peer, 'name' | 'what'> & { readonly env?: Readonly<Record<string, string>> }): Peer {
  return {
    name,
    what,
    scores: true,
    command: ({ location }) => ({
      name,
      file: process.execPath,
      args: [SERVICE_ENTRY, 'serve'],
      env: plainEnvironment({
        ACUITY_PORT: '0',
        ACUITY_ADMIN_PORT: '0',
        ACUITY_KEYS: location,
        ACUITY_MODEL: MODEL_FOLDER,
        ACUITY_HTTP_THREADS: '1',
        ACUITY_WORKERS: '1',
        ...env,
      }),
    }),
  };
}

export const ACUITY = service({
  name: 'acuity',
  what: 'the service: one event loop, one worker, keys, limits and logs on',
});
export const FLOOR = nodePeer('floor', 'uWebSockets.js answers a constant after reading the body', false);
export const FASTIFY = nodePeer('fastify', 'Fastify, Ajv, onnxruntime-node in process', true);
export const RUST: Peer = {
  name: 'rust',
  what: 'Rust: hyper, sonic-rs, ONNX Runtime on a thread of its own, batches without a wait',
  scores: true,
  unavailable: rustUnavailable(),
  command: (key) => ({
    name: 'rust',
    file: RUST_PROGRAM,
    args: [],
    env: { ...peerEnvironment(key), BENCH_FEATURES: featureCatalogue(), ...rustEnvironment() },
  }),
};

/** In the order of measurement. */
export const PEERS: readonly Peer[] = [FLOOR, FASTIFY, RUST, ACUITY];

function nodePeer(name: string, what: string, scores: boolean): Peer {
  return {
    name,
    what,
    scores,
    command: (key) => ({
      name,
      file: process.execPath,
      args: [compiledPath('peers', `${name}.js`)],
      env: peerEnvironment(key),
    }),
  };
}

function peerEnvironment({ digest }: BenchKey): NodeJS.ProcessEnv {
  return plainEnvironment({
    BENCH_KEY_DIGEST: digest,
    BENCH_MODEL: MODEL_FOLDER,
    NODE_ENV: 'production',
    ORT_DISABLE_TELEMETRY: '1',
  });
}

/** The parts of the catalogue that another language needs, with the meanings it must implement. */
function featureCatalogue(): string {
  const features = FEATURES.map(({ name, centre, scale }) => ({ name, centre, scale }));
  return JSON.stringify({ rowClamp: ROW_CLAMP, pastMax: PAST_MAX, features });
}
