import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStores } from '#acuity/auth/location.js';
import { issue, revoked, type KeyOrder } from '#acuity/auth/lifecycle.js';
import { startReplicasProxy } from '#fixtures/haproxy.js';
import { startStore, type RunningStore } from '#fixtures/redis.js';
import { freePorts, type Teardown } from '#fixtures/server.js';
import { makeReleases, Replica, type Release } from './replica.js';

export interface FleetKey {
  readonly id: string;
  readonly key: string;
}

/** Three replicas behind HAProxy, with one Redis. */
export interface Fleet {
  /** Of the load balancer. */
  readonly port: number;
  readonly store: RunningStore;
  readonly replicas: readonly Replica[];
  readonly releases: { readonly now: Release; readonly next: Release };
  issue(order: KeyOrder): Promise<FleetKey>;
  revoke(id: string): Promise<void>;
}

const REPLICAS = 3;

export async function startFleet(t: Teardown): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'acuity-fleet-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const releases = makeReleases(folder);
  const store = await startStore(t, { isKept: true });
  const stores = await openStores(store.url);
  t.teardown(() => stores.close());
  const replicas: Replica[] = [];
  for (let at = 0; at < REPLICAS; at++) replicas.push(new Replica(await freePorts(), store.url));
  for (const replica of replicas) await replica.start(t, releases.now);
  const { port } = await startReplicasProxy(
    t,
    replicas.map(({ ports }) => ports),
  );
  return {
    port,
    store,
    replicas,
    releases,
    async issue(order) {
      const { record, key } = issue(order, Date.now());
      await stores.keys.insert(record);
      // A new key is pushed to every replica.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return { id: record.id, key };
    },
    async revoke(id) {
      await stores.keys.amend(id, (record) => revoked(record, Date.now()));
    },
  };
}
