import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { HistoryStorage, ScoreRecord } from 'acuity-client';

/** A scored night, as the page shows it. */
export interface Night {
  /** The date of waking, unique for a person. */
  readonly night: string;
  readonly modelVersion: string;
  readonly scores: ScoreRecord;
  /** Sentences: why a score differs from what is usual, what was missing, what was left. */
  readonly notes: readonly string[];
}

/** What arrived and was not scored: when, in ISO 8601, and a sentence without values. */
export interface Unscored {
  readonly at: string;
  readonly why: string;
}

/** What is kept of a person: nights by their dates, and what was not scored by its moment. */
interface Kept {
  readonly history?: string | undefined;
  readonly nights: Readonly<Record<string, Night>>;
  readonly unscored: Readonly<Record<string, Unscored>>;
}

/** Histories and nights. They are health data: apply your rules for such data to the file. */
export interface Store extends HistoryStorage {
  keep(person: string, night: Night): void;
  leave(person: string, unscored: Unscored): void;
  /** The latest, newest first. */
  nights(person: string, most: number): readonly Night[];
  unscored(person: string, most: number): readonly Unscored[];
  people(): readonly string[];
}

const OWNER_ONLY = 0o600;

/** One JSON file, for one process alone: yours would be tables, with the comparison of `save` in SQL (README.md). */
export function openStore(file: string): Store {
  mkdirSync(dirname(file), { recursive: true });
  const people = new Map<string, Kept>(
    existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as [string, Kept][]) : [],
  );
  const of = (person: string): Kept => people.get(person) ?? { nights: {}, unscored: {} };
  const change = (person: string, changed: Partial<Kept>): void => {
    people.set(person, { ...of(person), ...changed });
    writeFileSync(`${file}.new`, JSON.stringify([...people]), { mode: OWNER_ONLY });
    renameSync(`${file}.new`, file); // whole, or as it was
  };
  return {
    load: async (person) => of(person).history,
    // Only if the history is still the one that was loaded: else the night is scored again.
    save: async (person, next, previous) => {
      if (of(person).history !== previous) return false;
      change(person, { history: next });
      return true;
    },
    keep: (person, night) => change(person, { nights: { ...of(person).nights, [night.night]: night } }),
    leave: (person, event) => change(person, { unscored: { ...of(person).unscored, [event.at]: event } }),
    nights: (person, most) => newest(of(person).nights, most),
    unscored: (person, most) => newest(of(person).unscored, most),
    people: () => [...people.keys()].toSorted(),
  };
}

function newest<T>(byTime: Readonly<Record<string, T>>, most: number): readonly T[] {
  const times = Object.keys(byTime).toSorted().toReversed().slice(0, most);
  return times.flatMap((time) => byTime[time] ?? []);
}
