import pg from 'pg';
import type { HistoryEntry, Night, Store } from './store.js';

/** PostgreSQL. Several processes that score one person at once need a lock around load and save: see the README. */
export async function postgresStore(url: string): Promise<Store> {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  await pool.query(`
    CREATE TABLE IF NOT EXISTS history (person text PRIMARY KEY, entries jsonb NOT NULL);
    CREATE TABLE IF NOT EXISTS night (
      person text NOT NULL, at timestamptz NOT NULL, night jsonb NOT NULL, PRIMARY KEY (person, at)
    );`);
  const rows = async <Row>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await pool.query(text, values)).rows as Row[];
  return {
    load: async (person) =>
      (await rows<{ entries: HistoryEntry[] }>('SELECT entries FROM history WHERE person = $1', person))[0]
        ?.entries,
    save: async (person, entries) => {
      await pool.query(
        'INSERT INTO history VALUES ($1, $2) ON CONFLICT (person) DO UPDATE SET entries = excluded.entries',
        [person, JSON.stringify(entries)],
      );
    },
    keep: async (person, night) => {
      await pool.query(
        'INSERT INTO night VALUES ($1, $2, $3) ON CONFLICT (person, at) DO UPDATE SET night = excluded.night',
        [person, night.at, JSON.stringify(night)],
      );
    },
    nights: async (person, nightsMax) => {
      const text = 'SELECT night FROM night WHERE person = $1 ORDER BY at DESC LIMIT $2';
      return (await rows<{ night: Night }>(text, person, nightsMax)).map(({ night }) => night).toReversed();
    },
    people: async () =>
      (await rows<{ person: string }>('SELECT DISTINCT person FROM night ORDER BY person')).map(
        ({ person }) => person,
      ),
    close: () => pool.end(),
  };
}
