import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import {
  AcuityClient,
  AcuityError,
  History,
  InvalidRequestError,
  RateLimitedError,
  SessionBuilder,
  UnitError,
  type HistoryStorage,
  type Sample,
  type StageInterval,
  type StoredHistory,
} from 'acuity/client';

/** What your wearable's API gave you for one night. */
interface Night {
  at: string;
  stages: StageInterval[];
  heartRate: Sample[];
  respiratoryRate: Sample[];
}

/** Yours would be a table: one row for each person, the history as text. This one is for one process alone. */
class Folder implements HistoryStorage {
  constructor(private readonly path: string) {
    mkdirSync(path, { recursive: true });
  }

  async load(person: string): Promise<string | undefined> {
    return this.read(person);
  }

  async save(person: string, next: string | undefined, previous: StoredHistory): Promise<boolean> {
    if (this.read(person) !== previous) return false;
    if (next === undefined) rmSync(this.file(person));
    else writeFileSync(this.file(person), next);
    return true;
  }

  private file(person: string): string {
    return `${this.path}/${person}.txt`;
  }

  private read(person: string): string | undefined {
    return existsSync(this.file(person)) ? readFileSync(this.file(person), 'utf8') : undefined;
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
    const builder = new SessionBuilder(night.at)
      .person({ bornAt: '1991-05-17', heightCm: 178, weightKg: 74, sex: 'F' })
      .heartRate(night.heartRate)
      .respiratoryRate(night.respiratoryRate)
      .sleepStages(night.stages);
    const woke = builder.wokeOn('Europe/Berlin'); // of the person; sent again, the night replaces itself
    const { scores, modelVersion } = await history.score(person, night.at, builder.build(), { night: woke });
    console.log(JSON.stringify({ person, ...scores, modelVersion }));
  } catch (error) {
    if (error instanceof UnitError) console.error('wrong unit:', error.message);
    else if (error instanceof InvalidRequestError) console.error('refused:', error.findings);
    else if (error instanceof RateLimitedError) console.error('come back in', error.retryAfterS, 's');
    else if (error instanceof AcuityError) console.error(error.name, error.requestId, error.message);
    else throw error;
  }
}

await scoreNight('person-1', JSON.parse(readFileSync('docs/examples/wearable.json', 'utf8')) as Night);
await client.close();
