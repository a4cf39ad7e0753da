import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { Limits } from '../auth/limits/limits.js';
import { YOUNG_THREAD_LIMITS } from '../base/process/collector.js';
import type { Log } from '../base/process/log.js';
import { socketPaths } from '../config/options.js';
import { call } from '../base/calls.js';
import { allocateBodyBudget } from '../http/bodyBudget.js';
import { allocateConnectionCount, type PublicAddress } from '../http/publicListener.js';
import {
  type EventLoopEvents,
  type EventLoopServer,
  type EventLoopSetup,
  openEventLoopServer,
} from './eventLoopServer.js';
import { TraceQueue } from '../http/tracedRequest.js';
import { listenError } from './listenError.js';
import { takeSocketPaths } from './publicSocket.js';
import type { EventLoopThreadData, FromEventLoop, LoopCall } from './eventLoopThread.js';
import { joined, loopBy } from './eventLoopVerbs.js';

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
  const bodies = allocateBodyBudget(new Limits(setup.limits).keysMax);
  const connections = allocateConnectionCount();
  const shared = { ...setup, bodies, connections };
  const { addressOf, release } = await takeAddress(setup.address, loops);
  const servers: EventLoopServer[] = [];
  try {
    for (const [loop, metrics] of setup.metrics.entries()) {
      const share = Math.floor(workers / loops) + (loop < workers % loops ? 1 : 0);
      const own = { ...shared, workers: share, loops, metrics };
      // A single listener picks the port itself if it is 0.
      if (loops === 1) return await openEventLoopServer(own, log, events);
      const traces = events.onTraced && new TraceQueue();
      const data = {
        setup: { ...own, address: addressOf(loop) },
        name: `http-${loop + 1}`,
        beatsAt: loop + 1,
        traces: traces?.memory,
      };
      servers.push(await openEventLoopThread(data, events, traces));
    }
  } catch (error) {
    const opened = joined(servers, addressOf(0));
    await opened.drain();
    await opened.close();
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
    throw listenError(error, { host, port, variables: 'ACUITY' });
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
  thread.on('message', (message: FromEventLoop) => {
    if ('hung' in message) return events.onHung(message.hung);
    if ('crashed' in message) return events.onCrash(message.crashed);
    traces?.received();
    events.onTraced?.(message.traced);
  });
  thread.on('error', (error) => events.onCrash(error));
  const neverListened = ended.then(() => Promise.reject(new Error('the thread of an event loop has ended')));
  const address = await Promise.race([call<PublicAddress>(thread, 'open'), neverListened]);
  return loopBy(address, async (verb, args) => {
    const done = call(thread, { verb, args } satisfies LoopCall);
    // A thread that has ended counts as held.
    if (verb === 'halt') return Promise.race([done, ended]);
    const value = await done;
    if (verb === 'close') await ended; // leaving the process earlier would end a thread with sockets in its loop
    return value;
  });
}
