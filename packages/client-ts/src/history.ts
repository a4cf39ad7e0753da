import type { Prediction } from './answer.js';
import type { AcuityClient } from './client.js';
import type { Measurement, Session } from './contract.js';
import { AcuityError } from './errors.js';
import { pauseBefore, type PredictOptions, type RetryOptions } from './retry.js';

/**
 * The caller's storage of one text per person. It is health data, under the caller's own rules for such data.
 */
export interface HistoryStorage {
  /** The text last saved for `person`; undefined, null or empty if there is none. */
  load(person: string): Promise<string | null | undefined>;
  /**
   * Replaces `previous`, as `load` returned it, by `next` in one step. If something else is stored by now,
   * changes nothing and returns false. Without `next`, deletes.
   */
  save(person: string, next: string | undefined, previous: string | null | undefined): Promise<boolean>;
}

/** Options that may be given with a session. */
export interface HistoryOptions extends PredictOptions {
  /**
   * The date of waking, for instance "2026-11-21", as in `Adapted.night`. Not needed with a recording,
   * which has one.
   */
  readonly night?: string | null | undefined;
  /** Measurements since the last night, each given once; the history keeps them. */
  readonly measurements?: readonly Measurement[] | null | undefined;
  /** Requests `explanation` with the scores. */
  readonly explain?: boolean | undefined;
}

/** In every try, another process stored a history of the person first. The stored history is intact. */
export class HistoryContendedError extends Error {
  override readonly name = 'HistoryContendedError';

  constructor() {
    super("others kept storing this person's history in between: score the night again later");
  }
}

/** If several processes store at once, one succeeds; the pauses keep it from always being the same. */
const CONTENTION: RetryOptions = { retries: 9, firstPauseMs: 10, pauseMaxMs: 50 };

/**
 * Scores sessions with the person's history, the text of the last answer, and stores the new one.
 *
 * Calls for one person run one after the other in this process. If another process stores first, the history
 * is loaded and the session scored again, so that no night is lost.
 */
export class History {
  readonly #client: Pick<AcuityClient, 'predict'>;
  readonly #storage: HistoryStorage;
  /** The last call of each person with calls under way. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(client: Pick<AcuityClient, 'predict'>, storage: HistoryStorage) {
    this.#client = client;
    this.#storage = storage;
  }

  /**
   * Scores `session` with the person's history, where its night gives its place. A night scored again replaces
   * its earlier entry; a session without a night is always a new one.
   * @throws HistoryInvalidError if the stored history is damaged, HistoryContendedError, errors of the client or
   * the storage; the history is then unchanged
   */
  async score(person: string, session: Session, options: HistoryOptions = {}): Promise<Prediction> {
    const { night, measurements, explain, ...others } = options;
    const request = {
      current_session: session,
      ...(typeof night === 'string' && { night }),
      ...(measurements?.length && { measurements: [...measurements] }),
      ...(explain && { explain }),
    };
    return this.#inTurn(person, async (stored) => {
      const done = await this.#client.predict({ ...request, history: stored }, others);
      if (done.history !== undefined) return { next: done.history, done };
      const sentence = 'the service gave no history: it is older than this client, update it';
      throw new AcuityError(sentence, done.requestId);
    });
  }

  /** Deletes everything stored for `person`. */
  async forget(person: string): Promise<void> {
    await this.#inTurn(person, async () => ({ next: undefined, done: undefined }));
  }

  /** Does `work` after the person's other calls. */
  async #inTurn<Done>(person: string, work: Work<Done>): Promise<Done> {
    const before = this.#last.get(person) ?? Promise.resolve();
    const result = before.then(() => this.#swap(person, work));
    const settled = result.catch(() => undefined); // the next in line does not care how this one ended
    this.#last.set(person, settled);
    try {
      return await result;
    } finally {
      if (this.#last.get(person) === settled) this.#last.delete(person);
    }
  }

  /** Does `work`, and again with the newly stored history if another process stored first. */
  async #swap<Done>(person: string, work: Work<Done>): Promise<Done> {
    for (let attempt = 1; ; attempt++) {
      const stored = await this.#storage.load(person);
      const { next, done } = await work(stored ?? '');
      if (next === (stored ?? undefined)) return done;
      const isTaken: unknown = await this.#storage.save(person, next, stored);
      if (isTaken === true) return done;
      // A storage that returns nothing would be written again and again.
      if (isTaken !== false) throw new TypeError('save() of a history storage gives true or false');
      const pauseMs = pauseBefore(attempt, CONTENTION, Math.random);
      if (pauseMs === undefined) throw new HistoryContendedError();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** What is to be stored in place of a history, undefined to delete the person. */
type Work<Done> = (stored: string) => Promise<{ readonly next: string | undefined; readonly done: Done }>;

/** A storage in memory, lost when the process ends: for trials and tests. */
export function memoryStorage(): HistoryStorage {
  const stored = new Map<string, string>();
  return {
    load: async (person) => stored.get(person),
    save: async (person, next, previous) => {
      if (stored.get(person) !== previous) return false;
      if (next === undefined) stored.delete(person);
      else stored.set(person, next);
      return true;
    },
  };
}
