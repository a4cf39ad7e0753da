import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Teardown } from '#fixtures/server.js';
import type { Fleet } from './fleet.js';
import { PhasedLoad, type PhaseOutcome } from './load.js';

export interface Pace {
  /** Requests per second of the load. */
  readonly rate: number;
  /** Length of a phase that has no end of its own. */
  readonly seconds: number;
}

export interface PhasesOutcome {
  readonly phases: readonly PhaseOutcome[];
  readonly mistakes: readonly string[];
}

/** Busy processes per core, like a neighbour on the machine. */
const BUSY_FOR_A_CORE = 8;
const KILLED = 'one killed and replaced';

/** Load from the first phase to the last, while the fleet is changed and broken. */
export async function runPhases(t: Teardown, fleet: Fleet, body: string, pace: Pace): Promise<PhasesOutcome> {
  const { replicas, releases, store } = fleet;
  const { key } = await fleet.issue({ kind: 'live', ratePerS: null });
  const mistakes: string[] = [];
  const load = new PhasedLoad({ port: fleet.port, key }, body, pace.rate);

  load.begin('three replicas');
  await sleep(pace.seconds * 1000);

  load.begin(KILLED);
  const [victim] = replicas;
  // Requests in flight, and those that reached its sockets before its end was noticed.
  const atRisk = load.inFlight + 2;
  await victim?.kill();
  await sleep(1000);
  await victim?.start(t, releases.now);
  await sleep(pace.seconds * 500);

  load.begin('rolled to a new version and model');
  for (const replica of replicas) {
    const code = await replica.stop();
    if (code !== 0) mistakes.push(`a replica that was stopped ended with ${code}`);
    await replica.start(t, releases.next);
    if (!(await replica.runs(releases.next)))
      mistakes.push('a replica does not run the new version and model');
    await sleep(1500); // until the load balancer has seen it
  }
  await sleep(pace.seconds * 500);

  load.begin('all cores taken by another program');
  const giveBack = takeCores(t);
  await sleep(pace.seconds * 1000);
  giveBack();
  load.begin('cores given back');
  await sleep(pace.seconds * 1000);

  load.begin('Redis cut');
  await store.kill();
  await sleep(pace.seconds * 1000);
  for (const replica of replicas) {
    if (!(await replica.isLocal())) mistakes.push('a replica does not say that its limits are local');
  }

  load.begin('Redis back');
  await store.start();
  await sleep(pace.seconds * 1000);
  for (const replica of replicas) {
    if (await replica.isLocal()) mistakes.push('a replica still says that its limits are local');
  }

  const phases = await load.end();
  for (const { phase, requests, failed, failures } of phases) {
    const allowed = phase === KILLED ? atRisk : 0;
    if (requests === 0) mistakes.push(`${phase}: nothing was sent`);
    if (failed > allowed)
      mistakes.push(`${phase}: ${failed} failed, ${allowed} may: ${JSON.stringify(failures)}`);
  }
  return { phases, mistakes };
}

/** Takes every core, at a higher priority than the replicas; returns the function that releases them. */
function takeCores(t: Teardown): () => void {
  const busy = Array.from({ length: BUSY_FOR_A_CORE * availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const giveBack = (): void => busy.forEach((process) => void process.kill('SIGKILL'));
  t.teardown(giveBack);
  return giveBack;
}
