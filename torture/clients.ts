import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { FOREIGN_PROGRAMS, ForeignCaller, type ForeignProgram } from '#fixtures/foreign.js';
import { foreignBodies, foreignTries, tryForeign, type ForeignTarget } from '#fixtures/foreignMatrix.js';
import { startServer } from '#fixtures/server.js';
import { loopsOf } from '#fixtures/stops.js';
import { messageOf } from '#acuity/base/errors.js';
import { Count, skippedTrial, type Form, type Part, type Trial } from './part.js';

/** Real HTTP libraries, each in every mode in which it can send. */

const LOOPS = 2;
const TIMES_KEPT: Readonly<Record<Form, number>> = { short: 2, long: 40 };

export const clients: Part = {
  name: 'clients',
  about: `callers on ${FOREIGN_PROGRAMS.length} HTTP libraries (test/foreign/setup.sh gets those that are missing)`,
  beyond: 'the HTTP library of the service and those of callers',
  async run(scope, { form, say }) {
    const folder = mkdtempSync(join(tmpdir(), 'acuity-torture-'));
    scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const server = await startServer(scope, { env: { ACUITY_LOG_LEVEL: 'fatal', ...loopsOf(LOOPS) } });
    const target = { server, bodies: await foreignBodies(server, folder) };
    const trials: Trial[] = [];
    for (const program of FOREIGN_PROGRAMS) {
      say(program.name);
      trials.push(
        program.missing === undefined
          ? await tryProgram(target, program, TIMES_KEPT[form])
          : skippedTrial(program.name, program.missing),
      );
    }
    return trials;
  },
};

/** Each try counts as so many requests as it sends. */
async function tryProgram(target: ForeignTarget, program: ForeignProgram, timesKept: number): Promise<Trial> {
  const { port, key } = target.server;
  const count = new Count();
  let requests = 0;
  const caller = new ForeignCaller(program, await program.command(), port, key);
  try {
    for (const given of foreignTries(program, timesKept)) {
      requests += given.times * target.bodies.length;
      const { answers, expected, left } = await tryForeign(target, caller, given);
      const name = `${given.reuse}, ${given.way}`;
      count.add(
        isDeepStrictEqual(answers, expected) ? undefined : `${name}: ${answers.join('; ').slice(0, 300)}`,
      );
      count.add(left === undefined ? undefined : `${name}: ${left}`);
    }
  } catch (error) {
    count.add(messageOf(error));
  } finally {
    await caller.stop();
  }
  return count.trial(program.name, `${requests} requests: ${program.ways.join(', ')}`);
}
