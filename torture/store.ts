import { messageOf } from '#acuity/base/errors.js';
import { runFleets } from '#fixtures/fleet/run.js';
import { REDIS } from '#fixtures/redis.js';
import { skippedTrial, type Form, type Part } from './part.js';

const RUNS: Readonly<Record<Form, number>> = { short: 12, long: 500 };

export const store: Part = {
  name: 'store',
  about: 'three replicas at a Redis that loses its last writes: lines cut, clocks apart, processes killed',
  async run(scope, { form, seed, say }) {
    if (REDIS.skip !== false) return [skippedTrial('no run breaks what docs/FLEET.md states', REDIS.skip)];
    const tried = RUNS[form];
    const what = 'no revoked key is honoured, and quotas and counts stay within their bounds';
    try {
      const { runs, losses, checks, answered, worst } = await runFleets(scope, {
        runs: tried,
        seed,
        endOnFailure: true,
        say,
      });
      const figure = `seed ${seed}: ${losses} losses, ${checks} looks at revoked keys, ${answered} answers; of a quota at most ${Math.round(100 * worst)} %`;
      return [{ what, tried, held: runs, figure }];
    } catch (error) {
      return [{ what, tried, held: 0, figure: `seed ${seed}`, failures: [reasonOf(error)] }];
    }
  },
};

/** What was broken, and the seed and the steps that break it again. */
function reasonOf(error: unknown): string {
  const broken = error instanceof Error && error.cause !== undefined ? `${messageOf(error.cause)}; ` : '';
  return `${broken}${messageOf(error)}`;
}
