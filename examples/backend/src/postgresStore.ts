import pg from 'pg';
import type { HistoryEntry, Night, Store, Unscored } from './store.js';

/** PostgreSQL. Several processes that score one person at once need a lock around load and save: see the README. */
export async function postgresStore(url: string): Promise<Store> {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  await pool.query(`
    CREATE TABLE IF NOT EXISTS history (person text PRIMARY KEY, entries jsonb NOT NULL);
    CREATE TABLE IF NOT EXISTS morning (
      person text NOT NULL, date date NOT NULL, night jsonb NOT NULL, PRIMARY KEY (person, date)
    );
    CREATE TABLE IF NOT EXISTS unscored (
      person text NOT NULL, at text NOT NULL, why text NOT NULL, PRIMARY KEY (person, at)
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
        'INSERT INTO morning VALUES ($1, $2, $3) ON CONFLICT (person, date) DO UPDATE SET night = excluded.night',
        [person, night.night, JSON.stringify(night)],
      );
    },
    leave: async (person, { at, why }) => {
      await pool.query(
        'INSERT INTO unscored VALUES ($1, $2, $3) ON CONFLICT (person, at) DO UPDATE SET why = excluded.why',
        [person, at, why],
      );
    },
    unscored: (person, most) =>
      rows<Unscored>(
        'SELECT at, why FROM unscored WHERE person = $1 ORDER BY at DESC LIMIT $2',
        person,
        most,
      ),
    nights: async (person, nightsMax) => {
      const text = 'SELECT night FROM morning WHERE person = $1 ORDER BY date DESC LIMIT $2';
      return (await rows<{ night: Night }>(text, person, nightsMax)).map(({ night }) => night).toReversed();
    },
    people: async () =>
      (
        await rows<{ person: string }>(
          'SELECT person FROM morning UNION SELECT person FROM unscored ORDER BY person',
        )
      ).map(({ person }) => person),
    close: () => pool.end(),
  };
}
