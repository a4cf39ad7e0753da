/**
 * The scorers of one event loop as it opens and closes them, whichever model they hold. They are a part of the halt: no
 * thread starts, ends or runs the network while the process exits, since that crashes.
 *
 *   Service.leave -> ProcessEnd.leave waits, each step within its limit, for
 *     Service.starting     an interrupted start, then the end of the admin thread
 *     EventLoopServer.halt each loop: Scorers.halt (below), then its thread holds still until the exit
 *     FileThreads.close    no thread for files begins, those that start are waited for
 *     Watchdog.started     the thread that kills the process if all this takes too long
 *   all in time -> process.exit, or while threads live exitAtOnce, once they are at rest; else -> a signal to itself
 *
 * Work that would begin after a halt gets NEVER: it waits for the end of the process.
 */
import { NEVER } from '../base/within.js';
import type { Scorer } from '../score/scorer.js';

export class Scorers {
  private readonly open = new Set<Scorer>();
  private readonly changes = new Set<Promise<unknown>>();
  private isHalted = false;

  /** Begins nothing once halted, as all here. */
  add(opening: () => Promise<Scorer>): Promise<Scorer> {
    return this.change(async () => {
      const scorer = await opening();
      this.open.add(scorer);
      return scorer;
    });
  }

  close(scorer: Scorer): Promise<void> {
    return this.change(async () => {
      await scorer.close();
      this.open.delete(scorer);
    });
  }

  /**
   * Resolves when no worker is starting, ending or in a run, and none will be any more, but for those that hang: exiting
   * at such a moment crashes.
   */
  async halt(): Promise<void> {
    this.isHalted = true;
    await Promise.allSettled(this.changes);
    await Promise.all([...this.open].map((scorer) => scorer.halt()));
  }

  private change<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.isHalted) return NEVER;
    const change = work();
    this.changes.add(change);
    const end = (): void => void this.changes.delete(change);
    change.then(end, end);
    return change;
  }
}
