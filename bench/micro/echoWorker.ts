import type { WorkerChannel } from '#acuity/score/protocol.js';
import { serveChannel } from '#acuity/score/worker/channel.js';

/** A worker without a model: tells the rows that it was given. */
export function run(channel: WorkerChannel): Promise<never> {
  return serveChannel(channel, async ({ rows }) => rows);
}
