import type { Teardown } from '#fixtures/server.js';

/** How much a part does: `short` in the tests, `long` by hand. */
export type Form = 'short' | 'long';

export interface PartOptions {
  readonly form: Form;
  readonly seed: number;
  /** Length of the soak. */
  readonly minutes: number;
  /** Reports the progress of a long part. */
  say(line: string): void;
}

/** One property tested many times: a line of the table. */
export interface Trial {
  readonly what: string;
  readonly tried: number;
  /** How many of the tries had the right outcome. */
  readonly held: number;
  /** Measured or counted along the way. */
  readonly figure: string;
  /** Why it was not tried here; it then has no result. */
  readonly skipped?: string;
  /** What did not hold: the first few. */
  readonly failures?: readonly string[];
}

/** A group of trials with a name. */
export interface Part {
  readonly name: string;
  /** A one-line description. */
  readonly about: string;
  /** What it guards that the simulator can't: the simulator has no sockets, programs, processes, threads or disks. */
  readonly beyond: string;
  run(scope: Teardown, options: PartOptions): Promise<readonly Trial[]>;
}

export function skippedTrial(what: string, skipped: string): Trial {
  return { what, tried: 0, held: 0, figure: '', skipped };
}

const FAILURES_MAX = 5;

/** Counts passed tries; keeps the first few failures. */
export class Count {
  tried = 0;
  held = 0;
  readonly failures: string[] = [];

  /** `failure`: undefined for a passed try. */
  add(failure: string | undefined): void {
    this.tried++;
    if (failure === undefined) this.held++;
    else if (this.failures.length < FAILURES_MAX) this.failures.push(failure);
  }

  trial(what: string, figure = ''): Trial {
    const { tried, held, failures } = this;
    return { what, tried, held, figure, failures };
  }
}

/** One try. */
export function triedOnce(what: string, failure: string | undefined, figure = ''): Trial {
  const count = new Count();
  count.add(failure);
  return count.trial(what, figure);
}
