import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { Dated, Night, Store, Unscored } from './store.js';

const OWNER_ONLY = 0o600;

/** SQLite in a file. better-sqlite3 runs on every Node that the service runs on; `node:sqlite` needs Node 22. */
export function sqliteStore(file: string): Store {
  mkdirSync(dirname(file), { recursive: true });
  own(file);
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.exec(`
    CREATE TABLE IF NOT EXISTS history (person TEXT PRIMARY KEY, entries TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS morning (
      person TEXT NOT NULL, date TEXT NOT NULL, night TEXT NOT NULL, PRIMARY KEY (person, date)
    );
    CREATE TABLE IF NOT EXISTS unscored (
      person TEXT NOT NULL, at TEXT NOT NULL, why TEXT NOT NULL, PRIMARY KEY (person, at)
    );
    CREATE TABLE IF NOT EXISTS measured (
      person TEXT NOT NULL, score TEXT NOT NULL, date TEXT NOT NULL, taken TEXT NOT NULL, is_sent INTEGER NOT NULL,
      PRIMARY KEY (person, score, date)
    );`);
  const load = database.prepare<[string], { entries: string }>(
    'SELECT entries FROM history WHERE person = ?',
  );
  const begin = database.prepare('INSERT OR IGNORE INTO history (entries, person) VALUES (?, ?)');
  const replace = database.prepare('UPDATE history SET entries = ? WHERE person = ? AND entries = ?');
  const forget = database.prepare('DELETE FROM history WHERE person = ? AND entries = ?');
  const keep = database.prepare('INSERT OR REPLACE INTO morning VALUES (?, ?, ?)');
  const leave = database.prepare('INSERT OR REPLACE INTO unscored VALUES (?, ?, ?)');
  const unscored = database.prepare<[string, number], Unscored>(
    'SELECT at, why FROM unscored WHERE person = ? ORDER BY at DESC LIMIT ?',
  );
  const nights = database.prepare<[string, number], { night: string }>(
    'SELECT night FROM morning WHERE person = ? ORDER BY date DESC LIMIT ?',
  );
  const measure = database.prepare('INSERT OR REPLACE INTO measured VALUES (?, ?, ?, ?, 0)');
  const measured = database.prepare<[string, number], { taken: string; is_sent: number }>(
    'SELECT taken, is_sent FROM measured WHERE person = ? ORDER BY date DESC LIMIT ?',
  );
  const sent = database.prepare(
    'UPDATE measured SET is_sent = 1 WHERE person = ? AND score = ? AND date = ? AND taken = ?',
  );
  const people = database.prepare<[], { person: string }>(
    'SELECT person FROM morning UNION SELECT person FROM unscored ORDER BY person',
  );
  return {
    load: async (person) => load.get(person)?.entries,
    save: async (person, next, previous) => {
      const { changes } =
        next === undefined
          ? forget.run(person, previous)
          : previous === undefined
            ? begin.run(next, person)
            : replace.run(next, person, previous);
      return changes === 1;
    },
    keep: async (person, night) => void keep.run(person, night.night, JSON.stringify(night)),
    leave: async (person, { at, why }) => void leave.run(person, at, why),
    unscored: async (person, most) => unscored.all(person, most),
    nights: async (person, nightsMax) =>
      nights
        .all(person, nightsMax)
        .map(({ night }) => JSON.parse(night) as Night)
        .toReversed(),
    measure: async (person, measurement) =>
      void measure.run(person, measurement.score, measurement.on, JSON.stringify(measurement)),
    measured: async (person, most) =>
      measured
        .all(person, most)
        .map(({ taken, is_sent }) => ({ measurement: JSON.parse(taken) as Dated, isSent: is_sent === 1 })),
    sent: async (person, measurements) => {
      for (const measurement of measurements) {
        sent.run(person, measurement.score, measurement.on, JSON.stringify(measurement));
      }
    },
    people: async () => people.all().map(({ person }) => person),
    close: async () => void database.close(),
  };
}

/**
 * Health data: readable only by its owner, including the files that SQLite writes beside it, which inherit the mode
 * when they are new.
 */
function own(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'wx', OWNER_ONLY)); // follows no dangling link
  for (const beside of ['', '-wal', '-shm', '-journal']) {
    if (existsSync(file + beside)) chmodSync(file + beside, OWNER_ONLY);
  }
}
