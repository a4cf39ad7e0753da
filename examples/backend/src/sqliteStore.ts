import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { HistoryEntry, Night, Store } from './store.js';

const OWNER_ONLY = 0o600;

/**
 * SQLite in a file. better-sqlite3 runs on every Node that the service runs on; `node:sqlite` is not there before
 * Node 22.
 */
export function sqliteStore(file: string): Store {
  mkdirSync(dirname(file), { recursive: true });
  own(file);
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.exec(`
    CREATE TABLE IF NOT EXISTS history (person TEXT PRIMARY KEY, entries TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS night (
      person TEXT NOT NULL, at TEXT NOT NULL, night TEXT NOT NULL, PRIMARY KEY (person, at)
    );`);
  const load = database.prepare<[string], { entries: string }>(
    'SELECT entries FROM history WHERE person = ?',
  );
  const save = database.prepare('INSERT OR REPLACE INTO history VALUES (?, ?)');
  const keep = database.prepare('INSERT OR REPLACE INTO night VALUES (?, ?, ?)');
  const nights = database.prepare<[string, number], { night: string }>(
    'SELECT night FROM night WHERE person = ? ORDER BY at DESC LIMIT ?',
  );
  const people = database.prepare<[], { person: string }>(
    'SELECT DISTINCT person FROM night ORDER BY person',
  );
  return {
    load: async (person) => {
      const row = load.get(person);
      return row === undefined ? undefined : (JSON.parse(row.entries) as HistoryEntry[]);
    },
    save: async (person, entries) => void save.run(person, JSON.stringify(entries)),
    keep: async (person, night) => void keep.run(person, night.at, JSON.stringify(night)),
    nights: async (person, nightsMax) =>
      nights
        .all(person, nightsMax)
        .map(({ night }) => JSON.parse(night) as Night)
        .toReversed(),
    people: async () => people.all().map(({ person }) => person),
    close: async () => void database.close(),
  };
}

/** Health data: its owner's alone, with what SQLite writes beside it, which gets the file's mode where it is new. */
function own(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'wx', OWNER_ONLY)); // follows no link that leads nowhere
  for (const beside of ['', '-wal', '-shm', '-journal']) {
    if (existsSync(file + beside)) chmodSync(file + beside, OWNER_ONLY);
  }
}
