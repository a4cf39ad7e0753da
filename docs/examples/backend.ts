import { mkdir, readFile, writeFile } from 'node:fs/promises';
import {
  AcuityClient,
  AcuityError,
  History,
  InvalidRequestError,
  RateLimitedError,
  SessionBuilder,
  UnitError,
  type HistoryEntry,
  type HistoryStorage,
  type Sample,
  type StageInterval,
} from 'acuity/client';

/** What your wearable's API gave you for one night. */
interface Night {
  at: string;
  stages: StageInterval[];
  heartRate: Sample[];
  respiratoryRate: Sample[];
}

/** Yours would be a table: one row for each person, the entries as JSON. */
class Folder implements HistoryStorage {
  constructor(private readonly path: string) {}

  async load(person: string): Promise<HistoryEntry[]> {
    try {
      return JSON.parse(await readFile(`${this.path}/${person}.json`, 'utf8')) as HistoryEntry[];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error; // a history that can't be read must not be overwritten
    }
  }

  async save(person: string, entries: readonly HistoryEntry[]): Promise<void> {
    await mkdir(this.path, { recursive: true });
    await writeFile(`${this.path}/${person}.json`, JSON.stringify(entries));
  }
}

// One client and one history for the whole process: the connections are kept and shared.
const client = AcuityClient.fromEnvironment(process.env, {
  timeoutMs: 2_000,
  hooks: { onRetry: ({ requestId, status, pauseMs }) => console.warn('again', requestId, status, pauseMs) },
});
const history = new History(client, new Folder(process.argv[2] ?? 'histories'));

async function scoreNight(person: string, night: Night): Promise<void> {
  try {
    const session = new SessionBuilder(night.at)
      .person({ bornAt: '1991-05-17', heightCm: 178, weightKg: 74, sex: 'F' })
      .heartRate(night.heartRate)
      .respiratoryRate(night.respiratoryRate)
      .sleepStages(night.stages)
      .build();
    const { scores, modelVersion } = await history.score(person, night.at, session);
    console.log(JSON.stringify({ person, ...scores, modelVersion }));
  } catch (error) {
    if (error instanceof UnitError) console.error('wrong unit:', error.message);
    else if (error instanceof InvalidRequestError) console.error('refused:', error.findings);
    else if (error instanceof RateLimitedError) console.error('come back in', error.retryAfterS, 's');
    else if (error instanceof AcuityError) console.error(error.name, error.requestId, error.message);
    else throw error;
  }
}

await scoreNight('person-1', JSON.parse(await readFile('docs/examples/wearable.json', 'utf8')) as Night);
await client.close();
