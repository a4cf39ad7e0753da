import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Target } from '#acuity/load/connection.js';
import { ACUITY, type Peer } from '#bench/peers/catalogue.js';
import { issueKey } from './key.js';
import { startServer, type ServerProcess } from './process.js';

/** A server and how to send it requests. */
export interface RunningPeer {
  readonly name: string;
  readonly server: ServerProcess;
  readonly target: Target;
}

/** Starts the service, with a deadline of its own if one is given, and peers beside it; stops them all when `use` is over. */
export async function withService<Outcome>(
  { deadlineMs, peers = [] }: { readonly deadlineMs?: number; readonly peers?: readonly Peer[] },
  use: (service: RunningPeer, peers: readonly RunningPeer[]) => Promise<Outcome>,
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'acuity-bench-'));
  const running: RunningPeer[] = [];
  try {
    const key = await issueKey(folder);
    const start = async ({ name, command }: Peer, env: Readonly<Record<string, string>> = {}) => {
      const asked = command(key);
      const server = await startServer({ ...asked, env: { ...asked.env, ...env } }, folder);
      const one = { name, server, target: { port: server.port, key: key.key } };
      running.push(one);
      return one;
    };
    const service = await start(
      ACUITY,
      deadlineMs === undefined ? {} : { ACUITY_DEADLINE_MS: String(deadlineMs) },
    );
    const others: RunningPeer[] = [];
    for (const peer of peers) others.push(await start(peer));
    return await use(service, others);
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()));
    await rm(folder, { recursive: true });
  }
}
