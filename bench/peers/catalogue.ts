import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES, ROW_CLAMP } from '#acuity/contract/features.js';
import { UsageError } from '#bench/cli.js';
import { COMPILED, MODEL_FOLDER, ROOT, SERVICE_ENTRY } from '#bench/paths.js';
import { plainEnvironment, type BenchKey, type Peer } from '#bench/server.js';

/** The service, one event loop and one worker; `env` differs from its other defaults. */
export function service({
  name,
  what,
  env,
  entry = SERVICE_ENTRY,
}: Pick<Peer, 'name' | 'what'> & {
  readonly env?: Readonly<Record<string, string>>;
  readonly entry?: string;
}): Peer {
  return {
    name,
    what,
    scores: true,
    command: ({ location }) => ({
      name,
      file: process.execPath,
      args: [entry, 'serve'],
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
/** The program that `bench/setup.sh` builds. */
const RUST_PROGRAM = join(ROOT, '.build/rust/release/acuity-peer');
/** The Rust peer loads it at start-up: the same library that the service runs on; undefined where there is none. */
const ORT = join(ROOT, 'node_modules/onnxruntime-node/bin/napi-v6', process.platform, process.arch);
const ORT_LIBRARY = (existsSync(ORT) ? readdirSync(ORT) : [])
  .filter((name) => name.startsWith('libonnxruntime.so.1'))
  .map((name) => join(ORT, name))[0];

export const RUST: Peer = {
  name: 'rust',
  what: 'Rust: hyper, sonic-rs, ONNX Runtime on a thread of its own, batches without a wait',
  scores: true,
  unavailable: existsSync(RUST_PROGRAM)
    ? ORT_LIBRARY === undefined
      ? 'onnxruntime-node has no library for this machine'
      : undefined
    : 'its program is absent: bench/setup.sh builds it where cargo is',
  command: (key) => ({
    name: 'rust',
    file: RUST_PROGRAM,
    args: [],
    env: { ...peerEnvironment(key), BENCH_FEATURES: featureCatalogue(), BENCH_ORT: ORT_LIBRARY ?? '' },
  }),
};

/** The service of another working copy, with its own build and model. @throws UsageError */
export function serviceIn(folder: string): Peer {
  const entry = join(folder, 'dist/main.js');
  if (!existsSync(entry)) throw new UsageError(`${entry} is absent: build that working copy first`);
  const model = join(folder, 'native-models/acuity-base');
  const [ours, theirs] = [MODEL_FOLDER, model].map((one) => readFileSync(join(one, 'manifest.json'), 'utf8'));
  const what = `the service of ${folder}${ours === theirs ? '' : ', with another model: its scores are not checked'}`;
  const peer = service({ name: 'beside', what, env: { ACUITY_MODEL: model }, entry });
  return { ...peer, scores: ours === theirs };
}

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
      args: [join(COMPILED, 'peers', `${name}.js`)],
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

/** Centre and scale of every feature, for another language. */
function featureCatalogue(): string {
  return JSON.stringify({ clamp: ROW_CLAMP, features: FEATURES.map(({ centre, scale }) => [centre, scale]) });
}
