import { pathToFileURL } from 'node:url';
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

/** How the service differs from its defaults, beside its ports, keys and model. */
interface ServiceSetup {
  readonly name: string;
  readonly what: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node itself. */
  readonly nodeArgs?: readonly string[];
}

/** The service with `threads` event loops and as many workers; everything else is its default. */
export function acuity(threads: number): Peer {
  return service({
    name: threads === 1 ? 'acuity' : `acuity-${threads}`,
    what: `the service: ${threads} event loop(s), ${threads} worker(s), keys, limits and logs on`,
    env: { ACUITY_HTTP_THREADS: String(threads), ACUITY_WORKERS: String(threads) },
  });
}

function service({ name, what, env, nodeArgs = [] }: ServiceSetup): Peer {
  return {
    name,
    what,
    scores: true,
    command: ({ location }) => ({
      name,
      file: process.execPath,
      args: [...nodeArgs, SERVICE_ENTRY, 'serve'],
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

const QUEUE_SHORT = '256';
const QUEUE_BUSY = '64';

export const ACUITY = acuity(1);
export const ACUITY_TWO = acuity(2);
export const ACUITY_SHORT = service({
  name: 'acuity-queue-256',
  what: `the service with a queue of ${QUEUE_SHORT}`,
  env: { ACUITY_QUEUE_MAX: QUEUE_SHORT },
});
/** Nearly all its answers are refusals, so only those are measured. */
export const ACUITY_BUSY: Peer = {
  ...service({
    name: 'acuity-busy',
    what: `the service with a queue of ${QUEUE_BUSY} that a slowed worker leaves full`,
    env: { ACUITY_QUEUE_MAX: QUEUE_BUSY },
    nodeArgs: ['--import', pathToFileURL(compiledPath('server', 'stalledWorker.js')).href],
  }),
  scores: false,
};

export const FLOOR = nodePeer('floor', 'uWebSockets.js answers a constant after reading the body', false);
export const FASTIFY = nodePeer('fastify', 'Fastify, Ajv, onnxruntime-node in process', true);
export const RUST = rustPeer('rust', 1);
export const RUST_TWO = rustPeer('rust-2', 2);
export const RUST_PEERS = [RUST, RUST_TWO];

/** Every peer but the service, by name. */
export const PEERS: ReadonlyMap<string, Peer> = new Map(
  [FLOOR, FASTIFY, ...RUST_PEERS].map((peer) => [peer.name, peer]),
);

function rustPeer(name: string, threads: number): Peer {
  return {
    name,
    what: `Rust: hyper, sonic-rs, ONNX Runtime on a thread of its own, batches without a wait, ${threads} event loop(s)`,
    scores: true,
    unavailable: rustUnavailable(),
    command: (key) => ({
      name,
      file: RUST_PROGRAM,
      args: [],
      env: { ...peerEnvironment(key), BENCH_FEATURES: featureCatalogue(), ...rustEnvironment(threads) },
    }),
  };
}

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
