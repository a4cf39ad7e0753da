import { setTimeout as sleep } from 'node:timers/promises';
import { momentMs, type Moment } from '#rules/moment.js';
import type { Prediction } from './answer.js';
import type { AcuityClient, PredictOptions } from './client.js';
import type { Measurement, PredictionRequestBody, Session } from './contract.js';
import { AcuityError } from './errors.js';
import { formerEntries, moveOver, requestOf, type FormerEntry } from './formerHistory.js';
import { withoutMeasurements } from './measuredHistory.js';
import { checkMeasured, checkNight } from './night.js';
import { pauseBefore, type RetryOptions } from './retry.js';

/** What a storage holds of a person: the history as text, or what the former client stored there. */
export type StoredHistory = string | readonly FormerEntry[] | null | undefined;

/** Where the caller keeps one text for each person: health data, under the caller's own rules for such data. */
export interface HistoryStorage {
  /** What was last saved for `person`; undefined, null or empty where nothing was. */
  load(person: string): Promise<StoredHistory>;
  /**
   * Replaces `previous`, which is what `load` gave, by `next`, in one step: where something else is stored by now,
   * it changes nothing and gives false. No `next` deletes.
   */
  save(person: string, next: string | undefined, previous: StoredHistory): Promise<boolean>;
}

/** What may be given with a session. */
export interface HistoryOptions extends PredictOptions {
  /** The date of waking, as "2026-11-21": what `Adapted.night` and `SessionBuilder.wokeOn()` are. */
  readonly night?: string | null | undefined;
  /** What was measured since the last night, each once; the history keeps it. Needs `night`. */
  readonly measurements?: readonly Measurement[] | null | undefined;
  /** Asks for `explanation` beside the scores: from the sixteenth night on it says how the day stands to usual ones. */
  readonly explain?: boolean | undefined;
}

/** Another process stored a history of the person each time that this one had scored. The stored one is whole. */
export class HistoryContendedError extends Error {
  override readonly name = 'HistoryContendedError';

  constructor() {
    super("others kept storing this person's history in between: score the night again later");
  }
}

/** Of several processes that store at once one succeeds, and the pauses keep it from being always the same. */
const CONTENTION: RetryOptions = { retries: 9, firstPauseMs: 10, pauseMaxMs: 50 };

/**
 * Scores sessions with the person's history, the text that the last answer gave, and stores the one that comes back.
 *
 * Calls for one person run one after the other in this process. Where another process stores first, the history is
 * loaded and the session scored again, so that no night is lost.
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
   * Scores `session` with the person's history, in which it gets its place by `night`. The same night scored again
   * replaces itself; a session without a night is always a new one.
   * @throws RangeError where a date is none or lies ahead, HistoryInvalidError where what is stored is damaged,
   * HistoryContendedError, what the client or the storage throws; the history is then as it was
   */
  async score(
    person: string,
    at: Moment,
    session: Session,
    options: HistoryOptions = {},
  ): Promise<Prediction> {
    const { night, measurements: given, explain = false, ...others } = options;
    const measurements = given ?? [];
    checkMeasured(measurements);
    const atMs = momentMs(at, 'the moment of the session');
    const asked = { atMs, night: checkNight(night), session, measurements, explain };
    const predict = (request: PredictionRequestBody): Promise<WithHistory> => this.#predict(request, others);
    return this.#inTurn(person, (stored) => {
      const former = formerEntries(stored);
      if (former !== undefined) return moveOver(former, asked, predict);
      return predict({ ...requestOf(asked), history: typeof stored === 'string' ? stored : '' });
    });
  }

  /**
   * Forgets what was measured of `person`, and keeps their nights: later scores are the network's alone.
   * @throws RangeError where what is stored is damaged
   */
  async forgetMeasurements(person: string): Promise<void> {
    await this.#inTurn(person, async (stored) => {
      const isHistory = typeof stored === 'string' && stored !== '' && formerEntries(stored) === undefined;
      const history = isHistory ? withoutMeasurements(stored) : undefined;
      return { history, isAsStored: !isHistory || history === stored };
    });
  }

  /** Forgets `person`. */
  async forget(person: string): Promise<void> {
    await this.#inTurn(person, async () => ({ history: undefined }));
  }

  async #predict(request: PredictionRequestBody, options: PredictOptions): Promise<WithHistory> {
    const prediction = await this.#client.predict(request, options);
    const { history, requestId } = prediction;
    if (history !== undefined) return { ...prediction, history };
    throw new AcuityError('the service gave no history: it is older than this client, update it', requestId);
  }

  /** Does `work` after the person's other calls, and again with what is stored by then where others stored first. */
  async #inTurn<Done extends ToStore>(
    person: string,
    work: (stored: StoredHistory) => Promise<Done>,
  ): Promise<Done> {
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

  async #swap<Done extends ToStore>(
    person: string,
    work: (stored: StoredHistory) => Promise<Done>,
  ): Promise<Done> {
    for (let attempt = 1; ; attempt++) {
      const stored = await this.#storage.load(person);
      const done = await work(stored);
      if (done.isAsStored || (done.history === undefined && (stored ?? undefined) === undefined)) return done;
      const isTaken: unknown = await this.#storage.save(person, done.history, stored);
      if (isTaken === true) return done;
      // A storage of the former kind gives nothing, and would be written again and again.
      if (isTaken !== false) throw new TypeError('save() of a history storage gives true or false');
      const pauseMs = pauseBefore({ attempt, retryAfterS: undefined }, CONTENTION, Math.random);
      if (pauseMs === undefined) throw new HistoryContendedError();
      await sleep(pauseMs);
    }
  }
}

/** What is to be stored, nothing to forget the person; `isAsStored`: nothing is to change. */
interface ToStore {
  readonly history: string | undefined;
  readonly isAsStored?: boolean;
}

/** What came back with the history to store. */
type WithHistory = Prediction & { readonly history: string };

/** A storage that forgets when the process ends: for trials and tests. */
export function memoryStorage(): HistoryStorage {
  const stored = new Map<string, StoredHistory>();
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
