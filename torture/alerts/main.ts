/** `npm run faults -- alerts`: provokes each alert on real servers, follows its page, and waits until it stops firing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '#acuity/base/errors.js';
import { textTable } from '#acuity/base/table.js';
import { REDIS } from '#fixtures/redis.js';
import type { Teardown } from '#fixtures/server.js';
import { follow } from './page.js';
import { startPrometheus, WITHOUT_PROMETHEUS, type Prometheus } from './prometheus.js';
import { PROVOCATIONS } from './provocations.js';
import { Subject } from './subject.js';

const EXIT_USAGE = 64;
/** Alerts provoked at once; those that need a core, or Prometheus, to themselves come last. */
const AT_ONCE = 4;
const ALONE: ReadonlySet<string> = new Set(['AcuityEventLoopBusy', 'AcuityAbsent']);
/** An alert that compares weeks takes some two minutes with its shortened rule. */
const FIRES_MS = 240_000;
const ENDS_MS = 240_000;
const LOOK_MS = 500;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const ends: (() => unknown)[] = [];
const scope: Teardown = { teardown: (end) => void ends.push(end) };
const onExit = (): void => ends.toReversed().forEach((end) => void end());
process.once('exit', onExit);

interface Outcome {
  readonly alert: string;
  readonly firesS: number | undefined;
  readonly failures: readonly string[];
  readonly overS: number | undefined;
}

try {
  const absent = WITHOUT_PROMETHEUS || REDIS.skip;
  if (absent !== false) throw new TypeError(absent);
  process.exitCode = (await run(wanted(process.argv.slice(2)))) ? 0 : 1;
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  process.stderr.write(`${messageOf(error)}\n\nnpm run faults -- alerts [NAME …]\n`);
  process.exitCode = EXIT_USAGE;
} finally {
  for (const end of ends.toReversed()) await end();
  process.off('exit', onExit);
}

function wanted(names: readonly string[]): readonly string[] {
  const unknown = names.find((name) => PROVOCATIONS[name] === undefined);
  if (unknown !== undefined) throw new TypeError(`${unknown} is no alert that is provoked here`);
  return names.length === 0 ? Object.keys(PROVOCATIONS) : names;
}

async function run(alerts: readonly string[]): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'acuity-alerts-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const prometheus = await startPrometheus(scope, folder);
  // An untouched server, so that alerts that compare replicas have another one to compare with.
  const bystander = new Subject(scope, join(folder, 'bystander'), {});
  await bystander.open();
  const scene = { folder, prometheus, watched: new Set([bystander.adminPort]) };
  const outcomes: Outcome[] = [];
  const take = async (queue: string[]): Promise<void> => {
    for (let alert = queue.shift(); alert !== undefined; alert = queue.shift()) {
      const outcome = await trial(alert, scene);
      outcomes.push(outcome);
      process.stderr.write(`${alert}: ${isGood(outcome) ? 'ok' : 'NOT OK'}\n`);
    }
  };
  const together = alerts.filter((alert) => !ALONE.has(alert));
  await Promise.all(Array.from({ length: AT_ONCE }, () => take(together)));
  await take(alerts.filter((alert) => ALONE.has(alert)));
  const rows = outcomes.map(({ alert, firesS, failures, overS }) => [
    alert,
    seconds(firesS),
    failures.length === 0 ? 'as written' : `${failures.length} failed`,
    seconds(overS),
  ]);
  process.stdout.write(`${textTable([['alert', 'fires after', 'page', 'over after'], ...rows])}\n`);
  for (const { alert, failures } of outcomes)
    for (const failure of failures) process.stdout.write(`${alert}: ${failure}\n`);
  return outcomes.every(isGood);
}

function isGood({ firesS, failures, overS }: Outcome): boolean {
  return firesS !== undefined && failures.length === 0 && overS !== undefined;
}

function seconds(value: number | undefined): string {
  return value === undefined ? 'NEVER' : `${value.toFixed(0)} s`;
}

interface Scene {
  readonly folder: string;
  readonly prometheus: Prometheus;
  readonly watched: Set<number>;
}

async function trial(alert: string, { folder, prometheus, watched }: Scene): Promise<Outcome> {
  const provocation = PROVOCATIONS[alert];
  if (provocation === undefined) throw new TypeError(alert);
  const prepared = await provocation.prepare?.(scope);
  const subject = new Subject(scope, join(folder, alert), { ...provocation.options, ...prepared });
  await subject.open();
  watched.add(subject.adminPort);
  prometheus.watch([...watched]);
  try {
    const startedMs = Date.now();
    const end = await provocation.provoke(subject, scope, prometheus);
    const is = (): Promise<boolean> => prometheus.isFiring(alert, subject.adminPort);
    const firesS = await untilS(is, startedMs, FIRES_MS);
    const failures = await follow(alert, 'look', subject, prometheus);
    const endedMs = Date.now();
    await end();
    failures.push(...(await follow(alert, 'mend', subject, prometheus)));
    return { alert, firesS, failures, overS: await untilS(async () => !(await is()), endedMs, ENDS_MS) };
  } finally {
    watched.delete(subject.adminPort);
    prometheus.watch([...watched]);
    await subject.end();
  }
}

/** Seconds since `sinceMs` until it holds; undefined if it never does. */
async function untilS(
  holds: () => Promise<boolean>,
  sinceMs: number,
  limitMs: number,
): Promise<number | undefined> {
  while (Date.now() - sinceMs < limitMs) {
    if (await holds()) return (Date.now() - sinceMs) / 1000;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return undefined;
}
