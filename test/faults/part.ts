import type { Teardown } from '#fixtures/repository.js';

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

/** A group of trials with a name. */
export interface Part {
  readonly name: string;
  /** A one-line description. */
  readonly about: string;
  /** What it guards that the simulator can't: the simulator has no sockets, programs, processes, threads or disks. */
  readonly beyond: string;
  run(scope: Teardown, options: PartOptions): Promise<readonly Trial[]>;
}

/** What `use` starts is ended after it; on a signal as far as that is possible synchronously, such as killing servers. */
export async function scoped<Result>(use: (scope: Teardown) => Promise<Result>): Promise<Result> {
  const ends: (() => unknown)[] = [];
  const onExit = (): void => ends.toReversed().forEach((end) => void end());
  process.once('exit', onExit);
  try {
    return await use({ teardown: (end) => void ends.push(end) });
  } finally {
    process.off('exit', onExit);
    for (const end of ends.toReversed()) await end();
  }
}

const FAILURES_MAX = 5;

/** One property tested many times: a line of the table. */
export class Trial {
  tried = 0;
  /** How many of the tries had the right outcome. */
  held = 0;
  /** What did not hold: the first few. */
  readonly failures: string[] = [];
  /** Measured or counted along the way. */
  figure = '';
  /** Why it was not tried here; it then has no result. */
  skipped?: string;

  constructor(readonly what: string) {}

  /** `failure`: undefined for a passed try. */
  add(failure: string | undefined): this {
    this.tried++;
    if (failure === undefined) this.held++;
    else if (this.failures.length < FAILURES_MAX) this.failures.push(failure);
    return this;
  }

  with(more: Partial<Pick<Trial, 'figure' | 'skipped'>>): this {
    return Object.assign(this, more);
  }
}
