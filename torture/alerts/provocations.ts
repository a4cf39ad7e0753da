import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import { openStores } from '#acuity/auth/location.js';
import { runClosedLoop } from '#acuity/load/closedLoop.js';
import { BAD_AGES } from '#fixtures/ages.js';
import { requestBody } from '#fixtures/bodies.js';
import { changeManifest, copyModel, manifestOf, replaceFile, turnLink } from '#fixtures/model.js';
import { startStore } from '#fixtures/redis.js';
import type { Teardown } from '#fixtures/server.js';
import type { Prometheus } from './prometheus.js';
import type { Subject, SubjectOptions } from './subject.js';

/** A provocation, and how it is undone if the page has no command for that. */
export interface Provocation {
  readonly options?: SubjectOptions;
  /** Options of the subject, made before it starts. */
  prepare?(t: Teardown): Promise<SubjectOptions>;
  provoke(subject: Subject, t: Teardown, prometheus: Prometheus): Promise<() => unknown> | (() => unknown);
}

const FAULTY = ['--import', new URL('../../test/fixtures/faultyWorkers.js', import.meta.url).href];
const faulty = (env: Readonly<Record<string, string>> = {}): SubjectOptions => ({ nodeOptions: FAULTY, env });

function aged(age: number): string {
  const { current_session } = requestBody(0);
  return JSON.stringify({ current_session: { ...current_session, age } });
}

const GOOD = aged(40);
const LACKING = JSON.stringify({
  current_session: { ...requestBody(0).current_session, RR_night: undefined, RR_day_1h: undefined },
});

/** Takes longer to parse than to send. */
function longBody(): string {
  const night = Array.from({ length: 6000 }, (_, index) => 50 + ((index * 7919) % 1000) / 100);
  const request = requestBody(5);
  const past_sessions = request.past_sessions?.map((session) => ({ ...session, HR_night: night }));
  return JSON.stringify({ ...request, past_sessions });
}

/** Sends as many requests as the server takes, in slices, until the returned function is called. */
function saturating({ port, key }: Subject): () => void {
  const stop = new AbortController();
  const load = { target: { port, key }, bodies: [longBody()], connections: 32, seconds: 3 };
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) await runClosedLoop(load);
  };
  run().catch(() => undefined); // the server has gone
  return () => stop.abort();
}

/** Good requests beside bad ones. */
function both(subject: Subject, bad: Parameters<Subject['calling']>[0]): () => void {
  const ends = [subject.calling({ body: GOOD }), subject.calling(bad)];
  return () => ends.forEach((end) => end());
}

const RESTARTS = 4;
/** Within this time a revocation has reached every replica. */
const SEEN_MS = 2000;
const CALLERS_OF_WORKERS = 12;
const STAGGER_MS = 370;
/** With the shortened rule a week has 101 s: fields go missing after the first part of it. */
const FULL_MS = 60_000;

/** By the name of the alert. */
export const PROVOCATIONS: Readonly<Record<string, Provocation>> = {
  AcuityFieldsMissing: {
    provoke(subject) {
      let end = subject.calling({ body: GOOD, pauseMs: 5 });
      const timer = setTimeout(() => {
        end();
        end = subject.calling({ body: LACKING, pauseMs: 5 });
      }, FULL_MS);
      return () => {
        clearTimeout(timer);
        end();
      };
    },
  },
  AcuityDown: {
    async provoke(subject) {
      await subject.kill();
      return () => undefined;
    },
  },
  AcuityAbsent: { provoke: (_subject, _t, prometheus) => prometheus.forget() },
  AcuityNotReady: {
    options: { env: { ACUITY_STOP_DELAY_MS: '600000' } },
    provoke(subject) {
      subject.signal('SIGTERM');
      return () => undefined;
    },
  },
  AcuityFailing: {
    options: faulty(),
    provoke: (subject) => both(subject, { body: aged(BAD_AGES.throws) }),
  },
  AcuitySheddingLoad: {
    options: faulty({ ACUITY_QUEUE_MAX: '1' }),
    provoke: (subject) => subject.calling({ body: aged(BAD_AGES.lags), callers: 4, pauseMs: 50 }),
  },
  AcuitySlow: {
    options: faulty({ ACUITY_DEADLINE_MS: '2000' }),
    provoke: (subject) => subject.calling({ body: aged(BAD_AGES.lags) }),
  },
  AcuityWorkersBusy: {
    options: faulty({ ACUITY_WORKERS: '4', ACUITY_BATCH_MAX: '1' }),
    // As many waiting as running, started one by one.
    provoke(subject) {
      const ends: (() => void)[] = [];
      const begin = (): unknown => ends.push(subject.calling({ body: aged(BAD_AGES.lags), pauseMs: 1 }));
      const timers = Array.from({ length: CALLERS_OF_WORKERS }, (_, index) =>
        setTimeout(begin, index * STAGGER_MS),
      );
      return () => {
        timers.forEach(clearTimeout);
        ends.forEach((end) => end());
      };
    },
  },
  AcuityWorkerLost: {
    options: faulty(),
    provoke: (subject) => subject.calling({ body: aged(BAD_AGES.exits), pauseMs: 3000 }),
  },
  AcuityBatchesFail: {
    options: faulty(),
    provoke: (subject) => subject.calling({ body: aged(BAD_AGES.lies), pauseMs: 1000 }),
  },
  AcuityRestarting: {
    async provoke(subject) {
      for (let start = 0; start < RESTARTS; start++) {
        await pause(3000); // until the previous one is noticed
        await subject.kill();
        await subject.start();
      }
      return () => undefined;
    },
  },
  AcuityKeysRefused: {
    provoke: (subject) => both(subject, { body: GOOD, key: 'sk_live_nonsense' }),
  },
  AcuityBodiesRefused: {
    provoke: (subject) => both(subject, { body: '{"current_session":{"age":900}}' }),
  },
  AcuityKeyStoreGone: {
    async prepare(t) {
      const store = await startStore(t, { isKept: true });
      stores.set(store.url, store);
      return { keys: store.url };
    },
    async provoke(subject) {
      const store = stores.get(subject.keys);
      await store?.kill();
      return () => store?.start();
    },
  },
  AcuityRevocationLost: {
    async prepare(t) {
      const store = await startStore(t, { args: ['--enable-debug-command', 'local'] });
      stores.set(store.url, store);
      return { keys: store.url };
    },
    async provoke(subject) {
      const store = stores.get(subject.keys);
      const { keys, close } = await openStores(subject.keys);
      const { record } = issue({ kind: 'live' }, Date.now());
      await keys.insert(record);
      await store?.say('SAVE');
      await keys.amend(record.id, (current) => revoked(current, Date.now()));
      close();
      await pause(SEEN_MS);
      await store?.say('DEBUG', 'RELOAD', 'NOSAVE');
      return () => undefined;
    },
  },
  AcuityModelsDiffer: {
    async provoke(subject) {
      const other = copyModel(join(subject.folder, 'other'));
      changeManifest(other, (manifest) => ({ ...manifest, version: `${manifest.version}-other` }));
      const before = join(subject.folder, 'before');
      renameSync(subject.model, before);
      turnLink(subject.model, other);
      return () => turnLink(subject.model, before);
    },
  },
  AcuityModelRefused: {
    provoke(subject) {
      const bad = copyModel(join(subject.folder, 'bad'));
      replaceFile(bad, manifestOf(bad).graphs.base.file, 'no graph');
      turnLink(subject.model, bad);
      return () => undefined; // the page has a command
    },
  },
  AcuityEventLoopBusy: {
    provoke: saturating,
  },
};

const stores = new Map<string, Awaited<ReturnType<typeof startStore>>>();
