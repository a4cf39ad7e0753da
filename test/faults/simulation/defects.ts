import { spawnSync } from 'node:child_process';
import { register } from 'node:module';
import { join } from 'node:path';
import { oneOf } from '#bench/cli.js';
import { REPOSITORY } from '#fixtures/repository.js';

/** A defect in a compiled module: code, and what is put in its place. */
type Defect = readonly (readonly [module: string, code: string, defect: string])[];

/** Bytes that the service once lost, and one defect against each promise to a fleet. */
export const DEFECTS = {
  /** Memory of an empty first piece of a body is never given back. */
  bodyBudgetLeak: [
    [
      'http/body',
      'this.length === 0 && options.isKept !== true) {\n            this.end();',
      'this.length === 0 && options.isKept !== true) {\n            this.isOver = true;',
    ],
    ['http/body', 'if (chunk.byteLength > 0) {', '{'],
    ['http/body', 'if (this.held < needed) {', 'if (this.buffer === undefined || this.held < needed) {'],
  ],
  /** A revoked key is valid again once the store forgets it. */
  unrevokedKey: [['auth/keyring', 'keepsRevoked === true', 'keepsRevoked === false']],
  /** Each replica answers what is left of a quota, not its share of that. */
  undividedQuota: [['auth/limits/dayQuotas', 'Math.max(1, replicas)', 'Math.max(1, Math.min(1, replicas))']],
  /** A store without keys is taken at its word. */
  emptyStoreTaken: [
    [
      'auth/redis/redisKeys',
      "snapshot.token === '' || isEmpty(snapshot)",
      "snapshot.token === '' && this.#token === undefined",
    ],
  ],
  /** A report is added where it should be set. */
  reportAdded: [['auth/redis/redisCounts', 'count.used = used;', 'count.used += used;']],
} as const satisfies Readonly<Record<string, Defect>>;
export type DefectName = keyof typeof DEFECTS;

/** Loads modules from now on with the defect in them. */
export function plant(defect: string): void {
  const changes: Defect = DEFECTS[oneOf(Object.keys(DEFECTS) as DefectName[], 'defect')(defect)];
  const source = `export async function load(url, context, next) {
    const loaded = await next(url, context);
    for (const [module, code, defect] of ${JSON.stringify(changes)}) {
      if (!url.endsWith('/dist/' + module + '.js')) continue;
      const parts = String(loaded.source).split(code);
      if (parts.length !== 2) throw new Error(module + ' has no single ' + code);
      loaded.source = parts.join(defect);
    }
    return loaded;
  }`;
  register(`data:text/javascript,${encodeURIComponent(source)}`);
}

/** Which fleets are simulated. */
export interface Fleets {
  readonly first: number;
  readonly seeds: number;
  readonly hours: number;
}

/** Simulates a service with a defect, seed by seed until it is found; the seed is undefined where none finds it. */
export function hunt(defect: DefectName, { first, seeds, hours }: Fleets) {
  const options = ['--defect', defect, '--seed', `${first}`, '--seeds', `${seeds}`, '--hours', `${hours}`];
  const found = simulate(options);
  if (found === undefined) return { seed: undefined, violation: '', again: '', isReplayed: false };
  return { ...found, isReplayed: JSON.stringify(simulate(found.again.split(' '))) === JSON.stringify(found) };
}

/** @returns what did not hold when a run fails, and how it says it is repeated; undefined where it does not fail */
function simulate(options: readonly string[]) {
  const command = [join(REPOSITORY, '.build/test/faults/simulation/main.js'), ...options];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  if (status === 0) return undefined;
  const [, seed, violation = ''] = /^seed (\d+) fails: (.*)$/m.exec(stdout) ?? [];
  const [, again = ''] = /^the same again: npm run faults -- simulate (.*)$/m.exec(stdout) ?? [];
  if (seed === undefined || /^this tree is /m.test(stdout))
    throw new Error(`the simulation failed otherwise: ${stdout}${stderr}`);
  return { seed: Number(seed), violation, again };
}
