import { Session, type Profiler } from 'node:inspector/promises';
import t from 'tap';
import { PROVIDERS, readRecording, recordingProblem, type Recording } from '#adapters/recording.js';
import { seededRandom } from '#acuity/base/random.js';
import { LENGTHS_S, randomGenome, recordingOf, STEPS_S, type Genome } from '#bench/micro/recordingGenome.js';

/** Executed blocks of packages/adapters, as V8 counts them: unlike time the same on every machine. */
class Steps {
  private readonly session = new Session();

  async start(): Promise<void> {
    this.session.connect();
    await this.session.post('Profiler.enable');
    await this.session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Since it was asked last. */
  async taken(): Promise<number> {
    const { result } = await this.session.post('Profiler.takePreciseCoverage');
    const ours = result.filter(({ url }) => url.includes('/dist/adapters/'));
    const ranges = ours.flatMap(({ functions }: Profiler.ScriptCoverage) =>
      functions.flatMap((one) => one.ranges),
    );
    return ranges.reduce((sum, { count }) => sum + count, 0);
  }

  close(): void {
    this.session.disconnect();
  }
}

/** Reads it, or refuses it. */
function read(recording: Recording): void {
  try {
    readRecording(recording);
  } catch (error) {
    if (recordingProblem(error) === undefined) throw error;
  }
}

/** As many as find what grows faster than its recording; the bench searches longer, and by time. */
const DRAWS = 6;
const ITEMS = 150;

t.test('twice as many sleeps and samples take at most about twice the steps', async (t) => {
  const steps = new Steps();
  await steps.start();
  t.teardown(() => steps.close());
  const random = seededRandom(57);
  for (const provider of PROVIDERS) {
    // All of one time and all close together are what is compared with each other.
    const close = LENGTHS_S.flatMap((lengthS) =>
      STEPS_S.slice(0, 3).map((stepS): Genome => ({
        ...randomGenome(provider, random),
        sleeps: 0.5,
        lengthS,
        stepS,
      })),
    );
    const drawn = Array.from({ length: DRAWS }, () => randomGenome(provider, random));
    for (const genome of [...close, ...drawn]) {
      const taken = [];
      for (const items of [ITEMS, 2 * ITEMS]) {
        const recording = recordingOf(genome, items);
        await steps.taken();
        read(recording);
        taken.push(await steps.taken());
      }
      const [once = NaN, twice = NaN] = taken;
      t.ok(twice < 2.6 * once + 2_000, `${JSON.stringify(genome)}: ${once} steps, then ${twice}`);
    }
  }
});
