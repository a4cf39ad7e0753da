import { PAST_MAX } from '#rules/fields.js';
import type { PredictionRequestBody, ScoreRecord, Session } from './contract.js';
import type { Prediction } from './answer.js';
import type { AcuityClient, PredictOptions } from './client.js';
import { momentMs, type Moment } from '#rules/moment.js';

/** A session that was scored. Plain JSON: store it as it is. */
export interface HistoryEntry {
  /** The moment that was scored, in ISO 8601 with Z. */
  readonly at: string;
  /** The date on which the person woke, where it was given: a person has each night once. */
  readonly night?: string;
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

/** What may be given with a session. */
export interface HistoryOptions extends PredictOptions {
  /** The date of waking, as "2026-11-21": what `Adapted.night` is. */
  readonly night?: string | null | undefined;
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
   * Scores `session` with the person's history and adds it to it. A session of the same moment or the same night is
   * replaced, so scoring one again does no harm.
   * @throws RangeError where the night is no date, what the client or the storage throws; the history is then as it was
   */
  async score(person: string, at: Moment, session: Session, options?: HistoryOptions): Promise<Prediction> {
    const moment = new Date(momentMs(at, 'the moment of the session')).toISOString();
    const { night, ...others } = options ?? {};
    const when =
      night === undefined || night === null ? { at: moment } : { at: moment, night: checked(night) };
    return this.#afterOthers(person, async () => {
      const entries = await this.entries(person);
      const prediction = await this.#client.predict(requestWith(entries, when, session), others);
      const { scores, modelVersion } = prediction;
      await this.#storage.save(person, withEntry(entries, { ...when, modelVersion, session, scores }));
      return prediction;
    });
  }

  /** What is kept of `person`, oldest first. */
  async entries(person: string): Promise<readonly HistoryEntry[]> {
    const stored = (await this.#storage.load(person)) ?? [];
    return stored.toSorted(inOrder).slice(-PAST_MAX);
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

type When = Pick<HistoryEntry, 'at' | 'night'>;

function checked(night: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(night)) return night;
  throw new RangeError('the night is a date, as 2026-11-21: that of waking');
}

/** The request for `session` with what of `entries` lies before it; one list gives both halves of the pair. */
export function requestWith(
  entries: readonly HistoryEntry[],
  when: When,
  session: Session,
): PredictionRequestBody {
  const past = entries.filter((entry) => inOrder(entry, when) < 0 && !isSame(entry, when));
  if (past.length === 0) return { current_session: session };
  return {
    current_session: session,
    past_sessions: past.map((entry) => entry.session),
    past_targets: past.map((entry) => entry.scores),
  };
}

function withEntry(entries: readonly HistoryEntry[], added: HistoryEntry): readonly HistoryEntry[] {
  return [...entries.filter((entry) => !isSame(entry, added)), added].toSorted(inOrder).slice(-PAST_MAX);
}

function isSame(a: When, b: When): boolean {
  return a.at === b.at || (a.night !== undefined && a.night === b.night);
}

/** By nights where both have one, else by moments: both are text that sorts. */
function inOrder(a: When, b: When): number {
  const [ofA, ofB] = [a.night ?? a.at, b.night ?? b.at];
  if (ofA !== ofB) return ofA < ofB ? -1 : 1;
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
