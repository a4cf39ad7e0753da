import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { send } from '../fixtures/connection.js';
import { startReplicasProxy, WITHOUT_HAPROXY } from '../fixtures/proxies.js';
import { listening } from '../fixtures/until.js';

/** What deploy/haproxy-replicas.cfg makes of what its looks at health are answered. */

/** `fall` of the configuration: so many looks without an answer take a replica out. */
const FALL = 4;

/** Answers requests, and looks at its health as `state` says. */
async function replica(t: Test) {
  const state = { health: 200 as 200 | 503 | 'silent', looks: 0, answered: 0 };
  const port = await listening(
    t,
    createServer((_, response) => {
      state.answered++;
      response.setHeader('X-Request-Id', 'given').end('{}');
    }),
  );
  const adminPort = await listening(
    t,
    createServer((_, response) => {
      state.looks++;
      if (state.health !== 'silent') response.writeHead(state.health).end();
    }),
  );
  return { state, port, adminPort };
}

async function fleet(t: Test) {
  const [first, second] = [await replica(t), await replica(t)];
  const { port } = await startReplicasProxy(t, [first, second]);
  /** How many of some requests the first replica answers. */
  const share = async (): Promise<number> => {
    const before = first.state.answered;
    for (let sent = 0; sent < 8; sent++) t.equal((await send(port, { body: '{}' })).status, 200);
    return first.state.answered - before;
  };
  return { first: first.state, share };
}

for (const [health, name, holds] of [
  [503, 'that says 503 is left before the looks that silence takes', (looks: number) => looks < FALL],
  // A look that was under way at the change may be in vain too.
  [
    'silent',
    'that is silent stays for several looks, and is left then',
    (looks: number) => looks >= FALL - 1,
  ],
] as const)
  t.test(`a replica ${name}, and comes back`, { skip: WITHOUT_HAPROXY }, async (t) => {
    const { first, share } = await fleet(t);
    while ((await share()) === 0);
    Object.assign(first, { health, looks: 0 });
    while ((await share()) > 0) await pause(50);
    t.ok(holds(first.looks), `${first.looks} looks`);
    first.health = 200;
    while ((await share()) === 0);
  });
