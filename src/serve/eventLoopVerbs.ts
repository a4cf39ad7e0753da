/** One place for what an event loop can be told, whether it runs here, in another thread, or is several in one. */
import type { EventLoopServer } from './eventLoopServer.js';

export type LoopVerb = Exclude<keyof EventLoopServer, 'address'>;

/** Which of several loops a verb goes to. A function: to all or none, it undoes on all what some have done. */
const VERBS: Readonly<Record<LoopVerb, 'all' | 'any' | ((loop: EventLoopServer) => Promise<void>)>> = {
  replaceKeys: 'all',
  prepareModel: (loop) => loop.dropModel(),
  switchModel: 'all',
  dropModel: 'all',
  // If every loop refuses a shadow model, all keep the one before.
  replaceShadow: (loop) => loop.replaceShadow(undefined),
  scoreOwn: 'any',
  drain: 'all',
  halt: 'all',
  close: 'all',
};

/** An event loop that does by `run` all that it is told. */
export function loopBy(
  address: EventLoopServer['address'],
  run: (verb: LoopVerb, args: readonly unknown[]) => Promise<unknown>,
): EventLoopServer {
  const verbs = (Object.keys(VERBS) as LoopVerb[]).map((verb) => [
    verb,
    (...args: readonly unknown[]) => run(verb, args),
  ]);
  return { address, ...Object.fromEntries(verbs) } as EventLoopServer;
}

export async function tell(
  loop: EventLoopServer,
  verb: LoopVerb,
  args: readonly unknown[],
): Promise<unknown> {
  return (loop[verb] as (...given: readonly unknown[]) => unknown)(...args);
}

/** Several event loops as one. */
export function joined(
  loops: readonly EventLoopServer[],
  address: EventLoopServer['address'],
): EventLoopServer {
  return loopBy(address, async (verb, args) => {
    const to = VERBS[verb];
    const told = to === 'any' ? loops.slice(0, 1) : loops;
    const outcomes = await Promise.allSettled(told.map((loop) => tell(loop, verb, args)));
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    const done = outcomes.find((outcome) => outcome.status === 'fulfilled');
    if (failure === undefined) return done?.value;
    if (typeof to === 'function' && done !== undefined) await Promise.all(loops.map(to));
    throw failure.reason;
  });
}
