import type { Teardown } from '#fixtures/server.js';

/** How much a part does: `short` in the tests, `long` by hand. */
export const FORMS = ['short', 'long'] as const;
export type Form = (typeof FORMS)[number];

export interface PartOptions {
  readonly form: Form;
  readonly seed: number;
  /** Of the soak. */
  readonly minutes: number;
  /** Tells how far a long part has come. */
  say(line: string): void;
}

/** One thing that was tried, often: a line of the table. */
export interface Trial {
  readonly what: string;
  readonly tried: number;
  /** How many of them came out as they have to. */
  readonly held: number;
  /** What was measured or counted on the way. */
  readonly figure: string;
  /** Why it was not tried here; nothing is said of it then. */
  readonly skipped?: string;
  /** What did not hold: the first few. */
  readonly failures?: readonly string[];
}

/** A group of trials that can be asked for by name. */
export interface Part {
  readonly name: string;
  /** What it does, in a line. */
  readonly about: string;
  run(scope: Teardown, options: PartOptions): Promise<readonly Trial[]>;
}

export function skippedTrial(what: string, skipped: string): Trial {
  return { what, tried: 0, held: 0, figure: '', skipped };
}

const FAILURES_MAX = 5;

/** Counts what holds; keeps the first few failures. */
export class Count {
  tried = 0;
  held = 0;
  readonly failures: string[] = [];

  /** `failure`: undefined where it holds. */
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
