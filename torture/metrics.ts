import { send } from '#fixtures/connection.js';
import { parseMetrics, valueOf, type Series } from '#fixtures/promtool.js';
import type { RunningServer } from '#fixtures/server.js';

/** What must be back at 0 when nobody is connected. */
const GAUGES = ['acuity_bodies_held_bytes', 'acuity_requests_in_flight', 'acuity_connections'];
const REST_MS = 20_000;
const LOOK_MS = 250;

export async function metricsOf({ adminPort }: Pick<RunningServer, 'adminPort'>): Promise<Series[]> {
  const sent = { method: 'GET', target: '/metrics', headers: { Connection: 'close' } };
  return parseMetrics((await send(adminPort, sent)).body);
}

/** What is left behind where the callers have gone; undefined where everything is back at 0. */
export async function leftBehind(server: RunningServer): Promise<string | undefined> {
  const endsMs = Date.now() + REST_MS;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const series = await metricsOf(server);
    const left = GAUGES.filter((name) => valueOf(series, name) !== 0);
    if (left.length === 0) return undefined;
    if (Date.now() > endsMs) return left.map((name) => `${name} ${valueOf(series, name)}`).join(', ');
  }
}
