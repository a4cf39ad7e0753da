import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Target } from '#acuity/load/connection.js';
import type { Peer } from '#bench/peers/catalogue.js';
import { issueKey } from './key.js';
import { startServer, type ServerProcess } from './process.js';

/** A server and how to send it requests. */
export interface RunningPeer {
  readonly peer: Peer;
  readonly server: ServerProcess;
  readonly target: Target;
}

/** Starts the peers, one key for all; stops them all when `use` is over. */
export async function withPeers<Outcome>(
  peers: readonly Peer[],
  use: (running: readonly RunningPeer[]) => Promise<Outcome>,
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'acuity-bench-'));
  const running: RunningPeer[] = [];
  try {
    const key = await issueKey(folder);
    for (const peer of peers) {
      const server = await startServer(peer.command(key), folder);
      running.push({ peer, server, target: { port: server.port, key: key.key } });
    }
    return await use(running);
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()));
    await rm(folder, { recursive: true });
  }
}
