import { PAST_MAX } from '#rules/fields.js';
import type { PredictionRequestBody, ScoreRecord, Session } from './contract.js';
import type { Prediction } from './answer.js';
import type { AcuityClient, PredictOptions } from './client.js';
import { momentMs, type Moment } from '#rules/moment.js';

/** A session that was scored. Plain JSON: store it as it is. */
export interface HistoryEntry {
  /** The moment that was scored, in ISO 8601 with Z. */
  readonly at: string;
  readonly modelVersion: string;
  readonly session: Session;
  readonly scores: ScoreRecord;
}

/** Where the caller keeps histories. They are health data: under the caller's own rules for such data. */
export interface HistoryStorage {
  /** What was last saved for `person`; undefined or empty where nothing was. */
  load(person: string): Promise<readonly HistoryEntry[] | undefined>;
  /** Replaces what is stored for `person`. */
  save(person: string, entries: readonly HistoryEntry[]): Promise<void>;
}

/**
 * Keeps the latest five scored sessions of each person and puts them into requests: oldest first, each with its
 * own scores, and never one that is not earlier than the session to score.
 *
 * Calls for one person run one after the other in this process. Where several processes score the same person at
 * once, the storage must order them (a lock or a transaction around `load` and `save`): else one entry may get lost.
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
   * Scores `session` with the person's history and adds it to it. A session of the same moment is replaced, so
   * scoring one again does no harm.
   * @throws what the client or the storage throws; the history is then as it was
   */
  async score(person: string, at: Moment, session: Session, options?: PredictOptions): Promise<Prediction> {
    const moment = new Date(momentMs(at, 'the moment of the session')).toISOString();
    return this.#afterOthers(person, async () => {
      const entries = await this.entries(person);
      const prediction = await this.#client.predict(requestWith(entries, moment, session), options);
      const { scores, modelVersion } = prediction;
      await this.#storage.save(person, withEntry(entries, { at: moment, modelVersion, session, scores }));
      return prediction;
    });
  }

  /** What is kept of `person`, oldest first. */
  async entries(person: string): Promise<readonly HistoryEntry[]> {
    const stored = (await this.#storage.load(person)) ?? [];
    return stored.toSorted(byMoment).slice(-PAST_MAX);
  }

  /** Forgets `person`. */
  forget(person: string): Promise<void> {
    return this.#afterOthers(person, () => this.#storage.save(person, []));
  }

  async #afterOthers<T>(person: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(person) ?? Promise.resolve();
    const result = before.then(work);
    const settled = result.catch(() => undefined); // the next in line does not care how this one ended
    this.#last.set(person, settled);
    try {
      return await result;
    } finally {
      if (this.#last.get(person) === settled) this.#last.delete(person);
    }
  }
}

/** The request for `session` with what of `entries` lies before it; one list gives both halves of the pair. */
export function requestWith(
  entries: readonly HistoryEntry[],
  at: string,
  session: Session,
): PredictionRequestBody {
  const past = entries.filter((entry) => entry.at < at);
  if (past.length === 0) return { current_session: session };
  return {
    current_session: session,
    past_sessions: past.map((entry) => entry.session),
    past_targets: past.map((entry) => entry.scores),
  };
}

function withEntry(entries: readonly HistoryEntry[], added: HistoryEntry): readonly HistoryEntry[] {
  return [...entries.filter(({ at }) => at !== added.at), added].toSorted(byMoment).slice(-PAST_MAX);
}

/** ISO 8601 in UTC sorts as text. */
function byMoment(a: HistoryEntry, b: HistoryEntry): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : 0;
}

/** A storage that forgets when the process ends: for trials and tests. */
export function memoryStorage(): HistoryStorage {
  const stored = new Map<string, readonly HistoryEntry[]>();
  return {
    load: async (person) => stored.get(person),
    save: async (person, entries) => {
      stored.set(person, structuredClone(entries));
    },
  };
}
