import autocannon from 'autocannon';
import { JSON_TYPE } from '#acuity/contract/mediaTypes.js';
import { latencyQuantiles, type Load, type Measurement } from '#acuity/tune/load/measurement.js';

const TIMEOUT_S = 30;

/**
 * Runs autocannon in this process. It costs more for each request than the service does, so on few cores the generator
 * limits a fast server. Its own histogram has whole milliseconds; the times of its
 * responses are finer.
 */
export async function closedLoopWithAutocannon({
  target,
  bodies,
  connections,
  seconds,
  mediaType = JSON_TYPE,
}: Load): Promise<Measurement> {
  const headers = { 'Content-Type': mediaType, 'X-API-Key': target.key };
  const instance = autocannon({
    url: `http://127.0.0.1:${target.port ?? 80}`,
    ...(target.socket !== undefined && { socketPath: target.socket }),
    connections,
    duration: seconds,
    timeout: TIMEOUT_S,
    requests: bodies.map((body) => ({ method: 'POST', path: '/predict', headers, body })),
  });
  const latenciesMs: number[] = [];
  instance.on('response', (_client: unknown, _status: number, _bytes: number, ms: number) =>
    latenciesMs.push(ms),
  );
  const { duration, errors, resets, non2xx } = await instance;
  const sorted = Float64Array.from(latenciesMs).toSorted();
  return {
    requests: sorted.length,
    seconds: duration,
    ...latencyQuantiles(sorted),
    errors: errors + resets + non2xx,
  };
}
