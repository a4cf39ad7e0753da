import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanEnvironment, REPOSITORY } from '#fixtures/repository.js';
import type { Fleet } from './fleet.js';
import { Caller } from './load.js';

/** A property that must hold across all replicas. */
export interface Check {
  readonly what: string;
  readonly figure: string;
  readonly holds: boolean;
}

const RATE = 40;
const BURST = 2 * RATE;
const QUOTA = 400;
/** A caller's rate relative to its limit. */
const GREED = 3;
const DEVIATION_MAX = 0.05;
const REVOKED_WITHIN_MS = 1000;
const UNSCORABLE = '{"current_session":7}';

export async function checkLimits(fleet: Fleet, body: string, seconds: number): Promise<readonly Check[]> {
  return [
    ...(await checkRate(fleet, body, seconds)),
    await checkQuota(fleet, body),
    await checkRevocation(fleet, body),
    await checkUsage(fleet, body),
  ];
}

/** A caller that always exceeds its rate: with Redis, without, and with it again. */
async function checkRate(fleet: Fleet, body: string, seconds: number): Promise<readonly Check[]> {
  const { key } = await fleet.issue({ kind: 'live', ratePerS: RATE });
  const caller = new Caller({ port: fleet.port, key });
  const checks: Check[] = [];
  const part = async (what: string, burst: number): Promise<void> => {
    const before = caller.count(200);
    const startMs = performance.now();
    await caller.ask(body, GREED * RATE, seconds);
    const allowed = burst + (RATE * (performance.now() - startMs)) / 1000;
    checks.push(deviation(what, caller.count(200) - before, allowed));
  };
  await part(`rate of ${RATE}/s over three replicas`, BURST);
  await fleet.store.kill();
  await part('the same, Redis cut', 0);
  await fleet.store.start();
  await part('the same, Redis back', 0);
  caller.close();
  return checks;
}

async function checkQuota(fleet: Fleet, body: string): Promise<Check> {
  const { key } = await fleet.issue({ kind: 'live', ratePerS: null, dailyMax: QUOTA });
  const caller = new Caller({ port: fleet.port, key });
  await caller.ask(body, 80, (2 * QUOTA) / 80);
  caller.close();
  return deviation(`${QUOTA} predictions a day`, caller.count(200), QUOTA);
}

function deviation(what: string, got: number, allowed: number): Check {
  const share = got / allowed - 1;
  const percent = `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)} %`;
  return {
    what,
    figure: `${got} of ${Math.round(allowed)}: ${percent}`,
    holds: Math.abs(share) <= DEVIATION_MAX,
  };
}

async function checkRevocation(fleet: Fleet, body: string): Promise<Check> {
  const { id, key } = await fleet.issue({ kind: 'live', ratePerS: null });
  const caller = new Caller({ port: fleet.port, key });
  await caller.ask(body, 30, 1);
  const before = caller.count(200);
  await fleet.revoke(id);
  await sleep(REVOKED_WITHIN_MS);
  await caller.ask(body, 30, 2);
  caller.close();
  const after = caller.count(200) - before;
  return {
    what: 'a revoked key, from one second on',
    figure: `${after} answers, ${caller.count(403)} refused`,
    holds: before > 0 && after === 0 && caller.count(403) > 0,
  };
}

async function checkUsage(fleet: Fleet, body: string): Promise<Check> {
  const { id, key } = await fleet.issue({ kind: 'live', ratePerS: null });
  const caller = new Caller({ port: fleet.port, key });
  await Promise.all([caller.ask(body, 50, 4), caller.ask(UNSCORABLE, 10, 4)]);
  caller.close();
  await sleep(1000);
  const answered = caller.count(200);
  const counted = usageOf(fleet, id);
  return {
    what: 'keys usage',
    figure: `${counted} counted, ${answered} answered with 200, ${caller.count(422)} with 422`,
    holds: counted === answered && answered > 0 && caller.count(422) > 0,
  };
}

/** Uses the operators' own command. */
function usageOf(fleet: Fleet, id: string): number {
  const command = [join(REPOSITORY, 'dist/main.js'), 'keys', 'usage', '--days', '2', '--json'];
  const env = cleanEnvironment({ ACUITY_KEYS: fleet.store.url });
  const { stdout, stderr, status } = spawnSync(process.execPath, command, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const { usage } = JSON.parse(stdout) as { usage: readonly { id: string; predictions: number }[] };
  return usage.filter((row) => row.id === id).reduce((sum, { predictions }) => sum + predictions, 0);
}
