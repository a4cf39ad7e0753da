import type { Clock } from '../base/clock.js';

/** Work on a list, done in small steps. */
export interface ListTask {
  /** Does one step. `waits`: nothing to do until the pump is woken. */
  step(): 'more' | 'waits' | 'done';
}

/** Lists get the event loop for this long at a time; a step that has begun is finished. */
const TURN_MS = 1;

/** Works on all lists of an event loop in turn, a line of each, and yields the loop in between. */
export class ListPump {
  private tasks: ListTask[] = [];
  private isScheduled = false;

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  add(task: ListTask): void {
    this.tasks.push(task);
    this.wake();
  }

  /** Call it when there may be work. */
  wake(): void {
    if (this.isScheduled || this.tasks.length === 0) return;
    this.isScheduled = true;
    setImmediate(() => this.run());
  }

  private run(): void {
    this.isScheduled = false;
    const untilMs = this.clock.monotonicMs() + TURN_MS;
    let waiting = 0;
    while (waiting < this.tasks.length) {
      const task = this.tasks.shift();
      const outcome = task?.step() ?? 'done';
      if (task !== undefined && outcome !== 'done') this.tasks.push(task);
      waiting = outcome === 'waits' ? waiting + 1 : 0;
      if (this.clock.monotonicMs() >= untilMs) return this.wake();
    }
  }
}
