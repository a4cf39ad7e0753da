import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { SlottedRecord } from '../auth/keyTable.js';
import { Limits } from '../auth/limits.js';
import { YOUNG_THREAD_LIMITS } from '../base/collector.js';
import type { Log } from '../base/log.js';
import { allocateBodyBudget } from '../http/bodyBudget.js';
import { allocateConnectionCount } from '../http/connectionLimit.js';
import type { PublicAddress } from '../http/server.js';
import { openFront, type Front, type FrontEvents, type FrontSetup } from './front.js';
import type { FromFront, FrontThreadData, Question, ToFront } from './frontThread.js';

/** Several event loops on one port, as one front; a single one runs on the main thread. */
export async function openFronts(
  setup: Omit<FrontSetup, 'workers' | 'loops' | 'metrics' | 'bodies' | 'connections'> & {
    /** One for each event loop. */
    readonly metrics: readonly SharedArrayBuffer[];
  },
  log: Log,
  events: FrontEvents & { onCrash(error: Error): void },
): Promise<Front> {
  const { workers, httpThreads: loops } = setup.config;
  const [metrics] = setup.metrics;
  const bodies = allocateBodyBudget(new Limits(setup.limits).slotsMax);
  const shared = { ...setup, bodies, connections: allocateConnectionCount() };
  if (metrics === undefined || setup.metrics.length !== loops)
    throw new RangeError('an event loop cannot count');
  if (loops === 1) return openFront({ ...shared, metrics, workers, loops }, log, events);
  const address = await freeAddress(setup.address);
  const fronts: Front[] = [];
  try {
    for (const [loop, memory] of setup.metrics.entries()) {
      const share = Math.floor(workers / loops) + (loop < workers % loops ? 1 : 0);
      const own = { ...shared, address, workers: share, loops, metrics: memory };
      const data = { setup: own, name: `http-${loop + 1}` };
      fronts.push(await openFrontThread(data, events));
    }
  } catch (error) {
    await joined(fronts, address).close();
    throw error;
  }
  return joined(fronts, address);
}

function joined(fronts: readonly Front[], address: PublicAddress): Front {
  const all = async (run: (front: Front) => Promise<void>): Promise<void> => {
    await Promise.all(fronts.map(run));
  };
  return {
    address,
    replaceKeys: (records) => fronts.forEach((front) => front.replaceKeys(records)),
    async prepareModel(bundle) {
      const outcomes = await Promise.allSettled(fronts.map((front) => front.prepareModel(bundle)));
      const failure = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failure === undefined) return;
      await all((front) => front.dropModel()); // all loops serve one model, or none changes
      throw failure.reason;
    },
    switchModel: () => all((front) => front.switchModel()),
    dropModel: () => all((front) => front.dropModel()),
    drain: () => all((front) => front.drain()),
    close: () => all((front) => front.close()),
  };
}

/**
 * Our own loops share the port, so the kernel would let another server of ours share it too: it must be free.
 * Port 0 is made a port here, as a socket on port 0 is never shared.
 */
async function freeAddress({ host, port }: PublicAddress): Promise<PublicAddress> {
  const probe = createServer();
  probe.listen({ host, port, exclusive: true });
  try {
    await once(probe, 'listening');
  } catch (error) {
    throw new Error(`cannot listen on ${host}:${port}: ${(error as Error).message}`, { cause: error });
  }
  const found = (probe.address() as AddressInfo).port;
  probe.close();
  await once(probe, 'close');
  return { host, port: found };
}

async function openFrontThread(
  data: FrontThreadData,
  events: FrontEvents & { onCrash(error: Error): void },
): Promise<Front> {
  const thread = new Worker(new URL('./frontThread.js', import.meta.url), {
    workerData: data,
    resourceLimits: YOUNG_THREAD_LIMITS,
  });
  const waiting = new Map<number, (error: Error | undefined) => void>();
  let asked = 0;
  const tell = (message: ToFront): void => thread.postMessage(message);
  const ask = (question: Question): Promise<void> =>
    new Promise((resolve, reject) => {
      const id = asked++;
      waiting.set(id, (error) => (error === undefined ? resolve() : reject(error)));
      tell({ kind: 'ask', id, question });
    });
  const address = await new Promise<PublicAddress>((resolve, reject) => {
    thread.on('message', (message: FromFront) => {
      if (message.kind === 'listening') resolve(message.address);
      else if (message.kind === 'failed') reject(message.error);
      else if (message.kind === 'hung') events.onHung();
      else {
        waiting.get(message.id)?.(message.error);
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
    replaceKeys: (records: readonly SlottedRecord[]) => tell({ kind: 'keys', records }),
    prepareModel: (bundle) => ask({ kind: 'prepareModel', bundle }),
    switchModel: () => ask({ kind: 'switchModel' }),
    dropModel: () => ask({ kind: 'dropModel' }),
    drain: () => ask({ kind: 'drain' }),
    async close() {
      const ended = once(thread, 'exit');
      await ask({ kind: 'close' });
      await ended; // leaving the process earlier would end a thread with sockets in its loop
    },
  };
}
