import t from 'tap';
import { HangWatch, type Hang, type HangKind } from '#acuity/base/hangWatch.js';
import type { ThreadTimes } from '#acuity/base/threadTimes.js';

const HANG_MS = 1000;
const PERIOD_MS = 50;
const IN_DOUBT = 12;

/** What a thread does of each second: the rest it sleeps. */
interface Life {
  readonly ran?: number;
  readonly waited?: number;
  readonly state: string;
}
const LOOPS: Life = { ran: 1, state: 'R' };
const SLEEPS: Life = { state: 'S' };
const STARVES: Life = { ran: 0.01, waited: 0.99, state: 'R' };
/** Its wait is added to its times only when it ends. */
const WAITS_ON: Life = { state: 'R' };

interface Scene extends HangKind {
  readonly lives: readonly (Life | undefined)[];
  /** Milliseconds between two looks. */
  readonly stepMs?: number;
  /** Whether the system tells the times. */
  readonly isTold?: boolean;
  readonly isStarting?: boolean;
}

/** Looks at silent threads until one hangs, for `forMs` at most. */
function watch(forMs: number, scene: Scene): Hang | undefined {
  const { lives, stepMs = PERIOD_MS, isTold = true, isStarting = false, ...kind } = scene;
  let nowMs = 0;
  const readTimes = (folder: string): ThreadTimes | undefined => {
    const life = lives[Number(folder)];
    return (
      life && { state: life.state, ranMs: nowMs * (life.ran ?? 0), waitedMs: nowMs * (life.waited ?? 0) }
    );
  };
  const hangs = new HangWatch({ ...kind, readTimes, hangMs: HANG_MS, periodMs: PERIOD_MS, nowMs });
  const threads = lives.map((_, index) => ({
    name: `thread ${index}`,
    folder: isTold ? String(index) : undefined,
    isBusy: true,
    isStarting,
    progress: 3,
  }));
  while (nowMs < forMs) {
    nowMs += stepMs;
    const hang = hangs.look(nowMs, threads);
    if (hang !== undefined) return hang;
  }
  return undefined;
}

const FOR_EVER_MS = 100 * IN_DOUBT * HANG_MS;
const about = (hang: Hang | undefined, ms: number): boolean =>
  hang !== undefined && hang.silentMs > ms && hang.silentMs <= ms + 4 * PERIOD_MS;

t.test(
  'a thread that loops, and one that sleeps, hang at the limit, however long their neighbours wait',
  async (t) => {
    for (const [life, state] of [
      [LOOPS, 'R'],
      [SLEEPS, 'S'],
      [{ state: 'D' }, 'D'],
    ] as const) {
      for (const neighbour of [STARVES, WAITS_ON]) {
        const hang = watch(FOR_EVER_MS, { lives: [neighbour, life] });
        t.ok(about(hang, HANG_MS), `${state}: ${hang?.silentMs}`);
        t.match(hang, { thread: 'thread 1, /proc/1', state });
      }
    }
  },
);

t.test('it says what the thread did', async (t) => {
  const hang = watch(FOR_EVER_MS, { lives: [{ ran: 0.25, waited: 0.5, state: 'S' }] });
  t.match(hang, { silentMs: 1850, state: 'S', ranMs: 413, waitedMs: 825, sleptMs: 413 });
});

t.test(
  'a thread that gets no processor hangs after twelve times the limit, and of lowest priority never',
  async (t) => {
    for (const life of [STARVES, WAITS_ON]) {
      t.ok(about(watch(FOR_EVER_MS, { lives: [life] }), IN_DOUBT * HANG_MS));
      const isLowest = true;
      t.equal(watch(FOR_EVER_MS / 2, { lives: [{ ...life, ran: 0 }], isLowest }), undefined);
      for (const hung of [LOOPS, SLEEPS])
        t.ok(about(watch(FOR_EVER_MS, { lives: [hung], isLowest }), HANG_MS));
    }
  },
);

t.test('of a thread that does not hang yet it knows whether it sleeps at its work', async (t) => {
  const at = { ms: 0 };
  const lives: Readonly<Record<string, Life>> = { sleeps: SLEEPS, loops: LOOPS, starves: STARVES };
  const readTimes = (folder: string): ThreadTimes => {
    const { ran = 0, waited = 0, state } = lives[folder] ?? SLEEPS;
    return { state, ranMs: at.ms * ran, waitedMs: at.ms * waited };
  };
  const threads = Object.keys(lives).map((name) => ({ name, folder: name, isBusy: true, progress: 3 }));
  for (const hasOwnThreads of [false, true]) {
    const watch = new HangWatch({ hangMs: HANG_MS, periodMs: PERIOD_MS, nowMs: 0, readTimes, hasOwnThreads });
    const found = (ms: number, what: 'hangs' | 'sleeps'): string[] => {
      for (; at.ms < ms; at.ms += PERIOD_MS) watch.look(at.ms + PERIOD_MS, threads);
      return threads.filter((thread) => watch[what](thread)).map(({ name }) => name);
    };
    at.ms = 0;
    t.strictSame(found(0.5 * HANG_MS, 'sleeps'), []);
    t.strictSame(found(0.9 * HANG_MS, 'sleeps'), hasOwnThreads ? [] : ['sleeps']);
    t.strictSame(found(0.9 * HANG_MS, 'hangs'), []);
    t.strictSame(found(1.2 * HANG_MS, 'hangs'), hasOwnThreads ? ['loops'] : ['sleeps', 'loops']);
    for (const thread of threads) thread.progress++;
    t.strictSame([...found(0, 'sleeps'), ...found(0, 'hangs')], []);
  }
});

t.test('what it runs counts, however long it has to wait for it', async (t) => {
  const half = { ran: 0.5, waited: 0.5, state: 'R' };
  t.ok(about(watch(FOR_EVER_MS, { lives: [half] }), 1.8 * HANG_MS));
});

t.test('a thread that sleeps may wait for threads of its own, one that loops does not', async (t) => {
  const hasOwnThreads = true;
  t.ok(about(watch(FOR_EVER_MS, { lives: [SLEEPS], hasOwnThreads }), IN_DOUBT * HANG_MS));
  t.ok(about(watch(FOR_EVER_MS, { lives: [SLEEPS], hasOwnThreads, isLowest: true }), IN_DOUBT * HANG_MS));
  t.ok(about(watch(FOR_EVER_MS, { lives: [LOOPS], hasOwnThreads }), HANG_MS));
});

t.test(
  'where the system does not tell, the limit holds, and twelve times of it for the lowest priority',
  async (t) => {
    const lives = [STARVES];
    const hang = watch(FOR_EVER_MS, { lives, isTold: false });
    t.ok(about(hang, HANG_MS));
    t.strictSame(hang, { thread: 'thread 0', silentMs: hang?.silentMs });
    t.ok(about(watch(FOR_EVER_MS, { lives, isTold: false, isLowest: true }), IN_DOUBT * HANG_MS));
    t.ok(about(watch(FOR_EVER_MS, { lives, isTold: false, isStarting: true }), HANG_MS + 25_000));
    // No file descriptor was free at any look.
    t.ok(about(watch(FOR_EVER_MS, { lives: [undefined] }), IN_DOUBT * HANG_MS));
  },
);

t.test('the time in which it started does not count for a thread that has started', async (t) => {
  const readTimes = (): ThreadTimes => ({ state: 'R', ranMs: 0, waitedMs: 0 });
  const hangs = new HangWatch({ hangMs: HANG_MS, periodMs: PERIOD_MS, nowMs: 0, readTimes });
  const thread = {
    name: 'slow',
    folder: undefined as string | undefined,
    isBusy: true,
    isStarting: true,
    progress: 0,
  };
  let nowMs = 0;
  const lookFor = (ms: number): Hang | undefined => {
    let hang: Hang | undefined;
    for (const endMs = nowMs + ms; nowMs < endMs; nowMs += PERIOD_MS) hang ??= hangs.look(nowMs, [thread]);
    return hang;
  };
  t.equal(lookFor(9 * HANG_MS), undefined);
  Object.assign(thread, { folder: '0', isStarting: false });
  t.equal(lookFor(9 * HANG_MS), undefined);
});

t.test('time in which the process itself was stopped counts for no one', async (t) => {
  const stopMs = 10 * HANG_MS;
  t.equal(watch(9 * stopMs, { lives: [SLEEPS], stepMs: stopMs }), undefined);
  t.equal(watch(9 * stopMs, { lives: [SLEEPS], stepMs: stopMs, isTold: false }), undefined);
});

t.test(
  'a thread that gets things done, or has nothing to do, does not hang; young silences are not read',
  async (t) => {
    let nowMs = 0;
    let reads = 0;
    const readTimes = (): ThreadTimes => ({ state: 'S', ranMs: 0, waitedMs: reads++ });
    const hangs = new HangWatch({ hangMs: HANG_MS, periodMs: PERIOD_MS, nowMs, readTimes });
    const busy = { name: 'busy', folder: '0', isBusy: true, progress: 0 };
    const idle = { ...busy, isBusy: false };
    let hang: Hang | undefined;
    for (; nowMs < FOR_EVER_MS; nowMs += PERIOD_MS) {
      if (nowMs % (0.2 * HANG_MS) === 0) busy.progress++;
      hang ??= hangs.look(nowMs, [busy, idle]);
    }
    t.equal(hang, undefined);
    t.equal(reads, 0);
  },
);
