import pg from 'pg';
import type { Dated, Night, Store, Unscored } from './store.js';

/** PostgreSQL, for any number of processes. */
export async function postgresStore(url: string): Promise<Store> {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  await pool.query(`
    CREATE TABLE IF NOT EXISTS history (person text PRIMARY KEY, entries text NOT NULL);
    CREATE TABLE IF NOT EXISTS morning (
      person text NOT NULL, date date NOT NULL, night jsonb NOT NULL, PRIMARY KEY (person, date)
    );
    CREATE TABLE IF NOT EXISTS unscored (
      person text NOT NULL, at text NOT NULL, why text NOT NULL, PRIMARY KEY (person, at)
    );
    CREATE TABLE IF NOT EXISTS measured (
      person text NOT NULL, score text NOT NULL, date text NOT NULL, taken text NOT NULL, is_sent boolean NOT NULL,
      PRIMARY KEY (person, score, date)
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
    measure: async (person, measurement) => {
      await pool.query(
        `INSERT INTO measured VALUES ($1, $2, $3, $4, false)
         ON CONFLICT (person, score, date) DO UPDATE SET taken = excluded.taken, is_sent = false`,
        [person, measurement.score, measurement.on, JSON.stringify(measurement)],
      );
    },
    measured: async (person, most) => {
      const text = 'SELECT taken, is_sent FROM measured WHERE person = $1 ORDER BY date DESC LIMIT $2';
      const found = await rows<{ taken: string; is_sent: boolean }>(text, person, most);
      return found.map(({ taken, is_sent }) => ({
        measurement: JSON.parse(taken) as Dated,
        isSent: is_sent,
      }));
    },
    forgetMeasured: async (person) => {
      await pool.query('DELETE FROM measured WHERE person = $1', [person]);
    },
    sent: async (person, measurements) => {
      const text =
        'UPDATE measured SET is_sent = true WHERE person = $1 AND score = $2 AND date = $3 AND taken = $4';
      for (const measurement of measurements) {
        await pool.query(text, [person, measurement.score, measurement.on, JSON.stringify(measurement)]);
      }
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
