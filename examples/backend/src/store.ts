import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { HistoryStorage, ScoreRecord } from 'acuity-client';
import Database from 'better-sqlite3';

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

/** Histories and nights. They are health data: apply your rules for such data to the database. */
export interface Store extends HistoryStorage {
  keep(person: string, night: Night): void;
  leave(person: string, unscored: Unscored): void;
  /** The latest, newest first. */
  nights(person: string, most: number): readonly Night[];
  unscored(person: string, most: number): readonly Unscored[];
  people(): readonly string[];
  close(): void;
}

const OWNER_ONLY = 0o600;

/** SQLite in a file. better-sqlite3 runs on every Node that the service runs on; `node:sqlite` needs Node 22. */
export function openStore(file: string): Store {
  mkdirSync(dirname(file), { recursive: true });
  own(file);
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.exec(`
    CREATE TABLE IF NOT EXISTS history (person TEXT PRIMARY KEY, entries TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS night (
      person TEXT NOT NULL, date TEXT NOT NULL, night TEXT NOT NULL, PRIMARY KEY (person, date)
    );
    CREATE TABLE IF NOT EXISTS unscored (
      person TEXT NOT NULL, at TEXT NOT NULL, why TEXT NOT NULL, PRIMARY KEY (person, at)
    );`);
  const load = database.prepare<[string], { entries: string }>(
    'SELECT entries FROM history WHERE person = ?',
  );
  const begin = database.prepare('INSERT OR IGNORE INTO history (entries, person) VALUES (?, ?)');
  const replace = database.prepare('UPDATE history SET entries = ? WHERE person = ? AND entries = ?');
  const forget = database.prepare('DELETE FROM history WHERE person = ? AND entries = ?');
  const keep = database.prepare('INSERT OR REPLACE INTO night VALUES (?, ?, ?)');
  const nights = database.prepare<[string, number], { night: string }>(
    'SELECT night FROM night WHERE person = ? ORDER BY date DESC LIMIT ?',
  );
  const leave = database.prepare('INSERT OR REPLACE INTO unscored VALUES (?, ?, ?)');
  const unscored = database.prepare<[string, number], Unscored>(
    'SELECT at, why FROM unscored WHERE person = ? ORDER BY at DESC LIMIT ?',
  );
  const people = database.prepare<[], { person: string }>(
    'SELECT person FROM night UNION SELECT person FROM unscored ORDER BY person',
  );
  return {
    load: async (person) => load.get(person)?.entries,
    // Only if the history is still the one that was loaded: else the night is scored again.
    save: async (person, next, previous) => {
      const { changes } =
        next === undefined
          ? forget.run(person, previous)
          : previous === undefined
            ? begin.run(next, person)
            : replace.run(next, person, previous);
      return changes === 1;
    },
    keep: (person, night) => void keep.run(person, night.night, JSON.stringify(night)),
    leave: (person, { at, why }) => void leave.run(person, at, why),
    nights: (person, most) => nights.all(person, most).map(({ night }) => JSON.parse(night) as Night),
    unscored: (person, most) => unscored.all(person, most),
    people: () => people.all().map(({ person }) => person),
    close: () => void database.close(),
  };
}

/** Readable only by its owner, with the files that SQLite writes beside it, which inherit the mode when they are new. */
function own(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'wx', OWNER_ONLY)); // follows no dangling link
  for (const beside of ['', '-wal', '-shm', '-journal']) {
    if (existsSync(file + beside)) chmodSync(file + beside, OWNER_ONLY);
  }
}
