import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import {
  AcuityClient,
  AcuityError,
  History,
  InvalidRequestError,
  RateLimitedError,
  type HistoryStorage,
  type Recording,
} from 'acuity/client';

/** Yours would be a table: one row for each person, the history as text. This one is for one process alone. */
class Folder implements HistoryStorage {
  constructor(private readonly path: string) {
    mkdirSync(path, { recursive: true });
  }

  async load(person: string): Promise<string | undefined> {
    return this.read(person);
  }

  async save(
    person: string,
    next: string | undefined,
    previous: string | null | undefined,
  ): Promise<boolean> {
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
  onRetry: ({ requestId, status, pauseMs }) => console.warn('again', requestId, status, pauseMs),
});
const history = new History(client, new Folder(process.argv[2] ?? 'histories'));

async function scoreNight(person: string, recording: Recording): Promise<void> {
  try {
    const session = { recording, age: 34, height_cm: 178, weight_kg: 74, sex: 'F' } as const;
    const prediction = await history.score(person, session); // sent again, the night replaces itself
    for (const { what, why } of prediction.recording?.left ?? []) console.warn(what, why);
    console.log(JSON.stringify({ person, ...prediction.scores, modelVersion: prediction.modelVersion }));
  } catch (error) {
    if (error instanceof InvalidRequestError) console.error('refused:', error.findings);
    else if (error instanceof RateLimitedError) console.error('come back in', error.retryAfterS, 's');
    else if (error instanceof AcuityError) console.error(error.name, error.requestId, error.message);
    else throw error;
  }
}

// What your wearable's API gave you for one night, as it came.
await scoreNight(
  'person-1',
  JSON.parse(readFileSync('docs/examples/callers/oura.json', 'utf8')) as Recording,
);
await client.close();
