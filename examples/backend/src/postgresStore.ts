import pg from 'pg';
import type { Night, Store, Unscored } from './store.js';

/** PostgreSQL, for any number of processes. */
export async function postgresStore(url: string): Promise<Store> {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  // `entries` is the history; the client's former versions stored a list there, as jsonb: it is read and moved over.
  await pool.query(`
    CREATE TABLE IF NOT EXISTS history (person text PRIMARY KEY, entries text NOT NULL);
    ALTER TABLE history ALTER COLUMN entries TYPE text;
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
      (await rows<{ entries: string }>('SELECT entries FROM history WHERE person = $1', person))[0]?.entries,
    save: async (person, next, previous) => {
      const [text, values] =
        next === undefined
          ? ['DELETE FROM history WHERE person = $1 AND entries = $2', [person, previous]]
          : previous === undefined
            ? ['INSERT INTO history VALUES ($1, $2) ON CONFLICT DO NOTHING', [person, next]]
            : [
                'UPDATE history SET entries = $2 WHERE person = $1 AND entries = $3',
                [person, next, previous],
              ];
      return (await pool.query(text, values)).rowCount === 1;
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
