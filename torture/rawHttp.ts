import { rawCases } from '#fixtures/rawCases.js';
import { expectedOutcome, observedOutcome } from '#fixtures/rawOutcome.js';
import { startServer } from '#fixtures/server.js';
import { leftBehind } from '#fixtures/atRest.js';
import { Count, type Part } from './part.js';

/** Malformed requests: the server handles them as docs/HTTP-EDGES.md says, and goes on serving. */

export const rawHttp: Part = {
  name: 'http',
  about: 'the requests of docs/HTTP-EDGES.md that break a rule of HTTP, byte by byte',
  beyond: 'how uWebSockets.js reads bytes that are no HTTP',
  async run(scope, { form, say }) {
    const rounds = form === 'short' ? 1 : 3;
    const server = await startServer(scope, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
    const count = new Count();
    const kinds = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      const tried = rawCases(server.key).map(async (rawCase) => {
        const [expected, observed] = [expectedOutcome(rawCase), await observedOutcome(server, rawCase)];
        kinds.add(rawCase.what);
        count.add(expected === observed ? undefined : `${rawCase.what}: ${observed}, not ${expected}`);
      });
      await Promise.all(tried);
      say(`${round + 1} of ${rounds} rounds`);
    }
    const rest = new Count();
    rest.add(await leftBehind(server));
    return [
      count.trial('the outcome is the documented one', `${kinds.size} kinds of requests, ${rounds} rounds`),
      rest.trial('nothing is left behind'),
    ];
  },
};
