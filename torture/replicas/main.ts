/** `npm run faults -- replicas`: three replicas, a real Redis and HAProxy, under load while they are changed and broken. */
import { parseArgs } from 'node:util';
import { bodiesOf } from '#acuity/load/payloads.js';
import { messageOf } from '#acuity/base/errors.js';
import { textTable } from '#acuity/base/table.js';
import { WITHOUT_HAPROXY } from '#fixtures/haproxy.js';
import { REDIS } from '#fixtures/redis.js';
import type { Teardown } from '#fixtures/server.js';
import { startFleet } from './fleet.js';
import { checkLimits } from './limits.js';
import { runPhases } from './phases.js';

const EXIT_USAGE = 64;
const USAGE = `npm run faults -- replicas [options]

  --rate N     requests per second (default 40)
  --seconds N  of a phase (default 10)`;

// What was started is ended by an exit handler, which a signal alone would not run.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const ends: (() => unknown)[] = [];
const scope: Teardown = { teardown: (end) => void ends.push(end) };
const onExit = (): void => ends.toReversed().forEach((end) => void end());
process.once('exit', onExit);

try {
  const options = {
    rate: { type: 'string', default: '40' },
    seconds: { type: 'string', default: '10' },
  } as const;
  const { values } = parseArgs({ options });
  const pace = { rate: Number(values.rate), seconds: Number(values.seconds) };
  if (!(pace.rate > 0 && pace.rate <= 1000 && pace.seconds >= 2 && pace.seconds <= 600))
    throw new TypeError('--rate wants 1 to 1000, --seconds 2 to 600');
  const absent = REDIS.skip || WITHOUT_HAPROXY;
  if (absent !== false) throw new TypeError(absent);
  process.exitCode = (await run(pace)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  process.stderr.write(`${messageOf(error)}\n\n${USAGE}\n`);
  process.exitCode = EXIT_USAGE;
} finally {
  for (const end of ends.toReversed()) await end();
  process.off('exit', onExit);
}

async function run(pace: { rate: number; seconds: number }): Promise<boolean> {
  const [body = ''] = bodiesOf('baseline', 1);
  const fleet = await startFleet(scope);
  const { phases, mistakes } = await runPhases(scope, fleet, body, pace);
  const rows = phases.map(({ phase, requests, failed, p99Ms }) => [
    phase,
    String(requests),
    String(failed),
    `${p99Ms.toFixed(1)} ms`,
  ]);
  process.stdout.write(`${textTable([['phase', 'requests', 'failed', 'p99'], ...rows])}\n\n`);
  const checks = await checkLimits(fleet, body, pace.seconds);
  const found = checks.map(({ what, figure, holds }) => [what, figure, holds ? 'yes' : 'NO']);
  process.stdout.write(
    `${textTable([['over all replicas', 'found', 'holds'], ...found], { alignsRight: false })}\n`,
  );
  for (const mistake of mistakes) process.stdout.write(`${mistake}\n`);
  return mistakes.length === 0 && checks.every(({ holds }) => holds);
}
