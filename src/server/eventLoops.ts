import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { Limits } from '../auth/limits.js';
import { YOUNG_THREAD_LIMITS } from '../process/collector.js';
import type { Log } from '../process/log.js';
import { socketPaths } from '../config/options.js';
import { errorOf } from '../base/errors.js';
import { allocateBodyBudget } from '../http/bodyBudget.js';
import { allocateConnectionCount, type PublicAddress } from '../http/publicListener.js';
import type { OwnAnswer } from '../http/ownRequest.js';
import {
  type EventLoopEvents,
  type EventLoopServer,
  type EventLoopSetup,
  openEventLoopServer,
} from './eventLoopServer.js';
import { TraceQueue } from '../tracing/tracedRequest.js';
import { NEVER } from '../base/within.js';
import { listenError } from './listenError.js';
import { takeSocketPaths } from './publicSocket.js';
import type { EventLoopThreadData, FromEventLoop, LoopCall, LoopMethod } from './eventLoopThread.js';

type TcpAddress = Extract<PublicAddress, { host: string }>;

/** Opens the event loops on one port, or on sockets, as one server. A single loop runs on the main thread. */
export async function openEventLoops(
  setup: Omit<EventLoopSetup, 'workers' | 'loops' | 'metrics' | 'bodies' | 'connections'> & {
    /** One for each event loop. */
    readonly metrics: readonly SharedArrayBuffer[];
  },
  log: Log,
  events: EventLoopEvents & { onCrash(error: Error): void },
): Promise<EventLoopServer> {
  const { workers, httpThreads: loops } = setup.config;
  const [metrics] = setup.metrics;
  const bodies = allocateBodyBudget(new Limits(setup.limits).keysMax);
  const connections = allocateConnectionCount();
  const shared = { ...setup, bodies, connections };
  if (metrics === undefined || setup.metrics.length !== loops)
    throw new RangeError('expected one metrics buffer per HTTP thread');
  const { addressOf, release } = await takeAddress(setup.address, loops);
  const servers: EventLoopServer[] = [];
  try {
    // A single listener picks the port itself if it is 0.
    if (loops === 1) return await openEventLoopServer({ ...shared, metrics, workers, loops }, log, events);
    for (const [loop, memory] of setup.metrics.entries()) {
      const share = Math.floor(workers / loops) + (loop < workers % loops ? 1 : 0);
      const own = { ...shared, address: addressOf(loop), workers: share, loops, metrics: memory };
      const traces = events.onTraced && new TraceQueue();
      const data = { setup: own, name: `http-${loop + 1}`, beatsAt: loop + 1, traces: traces?.memory };
      servers.push(await openEventLoopThread(data, events, traces));
    }
  } catch (error) {
    await joined(servers, addressOf(0)).close();
    throw error;
  } finally {
    await release();
  }
  const sockets = servers.flatMap(({ address: { socket } }) => socket ?? []);
  if (sockets.length > 0)
    log.info({ sockets }, 'each event loop has its own socket: give callers all of them');
  return joined(servers, addressOf(0));
}

/** The address of each loop, checked. Call `release` once all of them listen. @throws OperatorError */
async function takeAddress(asked: PublicAddress, loops: number) {
  if (asked.socket === undefined) {
    const address = await freeAddress(asked);
    return { addressOf: () => address, release: () => Promise.resolve() };
  }
  const paths = socketPaths(asked.socket, loops);
  const release = await takeSocketPaths(asked.socket, paths);
  const addressOf = (loop: number): PublicAddress => ({ ...asked, socket: paths[loop] ?? asked.socket });
  return { addressOf, release };
}

function joined(servers: readonly EventLoopServer[], address: PublicAddress): EventLoopServer {
  const all = async (run: (server: EventLoopServer) => Promise<void>): Promise<void> => {
    await Promise.all(servers.map(run));
  };
  /** Rejects if one loop fails, and undoes on all loops what the others have done by then. */
  const allOrNone = async (
    run: (server: EventLoopServer) => Promise<void>,
    undo: (server: EventLoopServer) => Promise<void>,
  ): Promise<void> => {
    const outcomes = await Promise.allSettled(servers.map(run));
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failure === undefined) return;
    if (outcomes.some(({ status }) => status === 'fulfilled')) await all(undo);
    throw failure.reason;
  };
  return {
    address,
    replaceKeys: (records) => servers.forEach((server) => server.replaceKeys(records)),
    // All loops serve the new model, or none does.
    prepareModel: (bundle) =>
      allOrNone(
        (server) => server.prepareModel(bundle),
        (server) => server.dropModel(),
      ),
    switchModel: () => all((server) => server.switchModel()),
    dropModel: () => all((server) => server.dropModel()),
    // All loops take it, or none does: if every loop refused it, all keep the one before.
    replaceShadow: (bundle) =>
      allOrNone(
        (server) => server.replaceShadow(bundle),
        (server) => server.replaceShadow(undefined),
      ),
    // The loops are alike, so the first one scores the process's own requests.
    scoreOwn: (bytes) => servers[0]?.scoreOwn(bytes) ?? NEVER,
    drain: () => all((server) => server.drain()),
    halt: () => all((server) => server.halt()),
    close: () => all((server) => server.close()),
  };
}

/**
 * Checks whether the address can be listened on, because uWebSockets.js does not report why it can't. Several
 * loops of ours share the port, so the system would also let another server of ours share it. Replaces port 0
 * by a free port, since a socket on port 0 is never shared.
 * @throws OperatorError
 */
async function freeAddress({ host, port }: TcpAddress): Promise<TcpAddress> {
  const probe = createServer();
  probe.listen({ host, port, exclusive: true });
  try {
    await once(probe, 'listening');
  } catch (error) {
    throw listenError(error, { host, port, hostVariable: 'ACUITY_HOST', portVariable: 'ACUITY_PORT' });
  }
  const found = (probe.address() as AddressInfo).port;
  probe.close();
  await once(probe, 'close');
  return { host, port: found };
}

async function openEventLoopThread(
  data: EventLoopThreadData,
  events: EventLoopEvents & { onCrash(error: Error): void },
  traces: TraceQueue | undefined,
): Promise<EventLoopServer> {
  const thread = new Worker(new URL('./eventLoopThread.js', import.meta.url), {
    workerData: data,
    resourceLimits: YOUNG_THREAD_LIMITS,
  });
  const ended = new Promise<void>((resolve) => {
    thread.once('exit', () => resolve());
  });
  const waiting = new Map<number, (answer: Extract<FromEventLoop, { kind: 'done' }>) => void>();
  let asked = 0;
  const call = <Value = void>(method: LoopMethod, ...args: readonly unknown[]): Promise<Value> =>
    new Promise((resolve, reject) => {
      const id = asked++;
      waiting.set(id, ({ value, error }) =>
        error === undefined ? resolve(value as Value) : reject(errorOf(error)),
      );
      thread.postMessage({ id, method, args } satisfies LoopCall);
    });
  const address = await new Promise<PublicAddress>((resolve, reject) => {
    thread.on('message', (message: FromEventLoop) => {
      if (message.kind === 'listening') resolve(message.address);
      else if (message.kind === 'failed') reject(errorOf(message.error));
      else if (message.kind === 'hung') events.onHung(message.hang);
      else if (message.kind === 'traced') {
        traces?.received();
        events.onTraced?.(message.request);
      } else {
        waiting.get(message.id)?.(message);
        waiting.delete(message.id);
      }
    });
    thread.on('error', (error) => {
      reject(error);
      events.onCrash(error);
    });
  });
  return {
    address,
    replaceKeys: (records) => void call('replaceKeys', records),
    prepareModel: (bundle) => call('prepareModel', bundle),
    switchModel: () => call('switchModel'),
    dropModel: () => call('dropModel'),
    replaceShadow: (bundle) => call('replaceShadow', bundle),
    scoreOwn: (bytes) => call<OwnAnswer>('scoreOwn', bytes),
    drain: () => call('drain'),
    // A thread that has ended counts as held.
    halt: () => Promise.race([call('halt'), ended]),
    async close() {
      await call('close');
      await ended; // leaving the process earlier would end a thread with sockets in its loop
    },
  };
}
