import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { FEATURES, ROW_CLAMP } from '#acuity/contract/features.js';
import { PAST_MAX } from '#rules/fields.js';
import { compiledPath, MODEL_FOLDER, SERVICE_ENTRY, sourcePath } from '#bench/paths.js';
import { plainEnvironment } from '#bench/server/environment.js';
import type { BenchKey } from '#bench/server/key.js';
import type { ServerCommand } from '#acuity/load/childServer.js';
import { fastapiPython } from './fastapi/python.js';
import { RUST_PROGRAM, rustEnvironment, rustUnavailable, type RustSettings } from './rust/command.js';

/** A server that is measured. */
export interface Peer {
  readonly name: string;
  readonly what: string;
  /** Gives scores, which are then checked; the floor gives a constant. */
  readonly scores: boolean;
  command(key: BenchKey): ServerCommand;
  /** Why it can't run here; undefined where it can. */
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
/** Its answers are hardly ever scores: only what it refuses is looked at. */
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
export const NODE = nodePeer('node', "node:http before the service's own reader, batches and pool", true);
export const FASTAPI: Peer = {
  name: 'fastapi',
  what: 'Python: FastAPI, Pydantic, uvicorn with uvloop, NumPy, onnxruntime in process',
  scores: true,
  unavailable: existsSync(fastapiPython())
    ? undefined
    : 'its virtual environment is absent: bench/peers/fastapi/setup.sh makes it',
  command: (key) => ({
    name: 'fastapi',
    file: fastapiPython(),
    args: [sourcePath('peers/fastapi/app.py')],
    env: { ...peerEnvironment(key), BENCH_FEATURES: featureCatalogue() },
  }),
};

/** In the configuration that was fastest on two cores; the others show that it was. */
const RUST_SETTINGS: RustSettings = { threads: 1, json: 'sonic', modelRuns: 'thread' };
export const RUST = rustPeer('rust', RUST_SETTINGS);
export const RUST_TWO = rustPeer('rust-2', { ...RUST_SETTINGS, threads: 2 });
/** Every configuration of it. */
export const RUST_PEERS = [
  RUST,
  RUST_TWO,
  rustPeer('rust-simd', { ...RUST_SETTINGS, json: 'simd' }),
  rustPeer('rust-loop', { ...RUST_SETTINGS, modelRuns: 'loop' }),
  rustPeer('rust-loop-2', { ...RUST_SETTINGS, modelRuns: 'loop', threads: 2 }),
];

/** Every peer but the service, by name. */
export const PEERS: ReadonlyMap<string, Peer> = new Map(
  [FLOOR, FASTIFY, NODE, FASTAPI, ...RUST_PEERS].map((peer) => [peer.name, peer]),
);

function rustPeer(name: string, settings: RustSettings): Peer {
  const { threads, json, modelRuns } = settings;
  const reader = json === 'sonic' ? 'sonic-rs' : 'simd-json';
  const runs = modelRuns === 'thread' ? 'on a thread of its own' : 'in the event loop';
  return {
    name,
    what: `Rust: hyper, ${reader}, ONNX Runtime ${runs}, batches without a wait, ${threads} event loop(s)`,
    scores: true,
    unavailable: rustUnavailable(),
    command: (key) => ({
      name,
      file: RUST_PROGRAM,
      args: [],
      env: { ...peerEnvironment(key), BENCH_FEATURES: featureCatalogue(), ...rustEnvironment(settings) },
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

/** What another language needs of the catalogue; the meanings it has to know. */
function featureCatalogue(): string {
  const features = FEATURES.map(({ name, centre, scale }) => ({ name, centre, scale }));
  return JSON.stringify({ rowClamp: ROW_CLAMP, pastMax: PAST_MAX, features });
}
