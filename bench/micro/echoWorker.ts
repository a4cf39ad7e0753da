import type { Lease } from '#acuity/scoring/messages.js';
import { serveLease } from '#acuity/worker/lease.js';

/** A worker without a model: tells the rows that it was given. */
export function run(lease: Lease): Promise<never> {
  return serveLease(lease, async ({ rows }) => rows);
}
