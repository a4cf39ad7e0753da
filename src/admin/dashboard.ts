import type { IncomingMessage, ServerResponse } from 'node:http';
import { Observer } from '../base/observer.js';
import { REFUSAL_CAUSES, statusOf } from '../contract/metrics.js';
import { JUDGED_POINTS, SYMPTOMS } from './symptoms.js';
import { POINTS_MAX, type TimeSeries, type Point } from './timeSeries.js';

/** A variable of the configuration as it may be shown: secrets are masked. */
export interface Setting {
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
}

export interface DashboardOptions {
  readonly timeSeries: TimeSeries;
  isReady(): boolean;
  modelVersion(): string;
  readonly version: string;
  /** When the process started, in milliseconds since 1970. */
  readonly startedMs: number;
  readonly settings: readonly Setting[];
  readonly batchMax: number;
  readonly deadlineMs: number;
  /** Time since the key store was last seen. */
  keyStoreAgeS?(): number;
  /** A second could not be sampled; the next one is tried. */
  onProblem(error: Error): void;
}

const PERIOD_MS = 1000;
const VIEWERS_MAX = 32;
/** A viewer that takes its events this slowly is let go; its browser comes back. */
const UNREAD_BYTES_MAX = 1 << 20;

/**
 * The feed of the live page: server-sent events, `start` with everything known so far, then `point` once a
 * second. While nobody looks, a second costs the difference of two readings of the counters and nothing else.
 */
export class Dashboard {
  private readonly viewers = new Set<ServerResponse>();
  private readonly observer: Observer;

  constructor(private readonly options: DashboardOptions) {
    const onProblem = (error: Error): void => options.onProblem(error);
    this.observer = new Observer({ look: () => this.tick(), onProblem }, PERIOD_MS);
  }

  get viewerCount(): number {
    return this.viewers.size;
  }

  /** Feeds one more viewer until it leaves. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    if (this.viewers.size >= VIEWERS_MAX) {
      response.writeHead(503, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
      response.end('{"detail":"Too many viewers"}');
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    response.write(event('start', this.everything()));
    this.viewers.add(response);
    response.once('close', () => this.viewers.delete(response));
  }

  stop(): void {
    this.observer.stop();
    for (const viewer of this.viewers) viewer.end();
  }

  private tick(): void {
    const point = this.options.timeSeries.sample();
    if (this.viewers.size === 0) return;
    const text = event('point', { point, ...this.state() });
    for (const viewer of this.viewers) {
      if (viewer.writableLength > UNREAD_BYTES_MAX) viewer.destroy();
      else viewer.write(text);
    }
  }

  private everything(): object {
    const { timeSeries, version, startedMs, settings, batchMax } = this.options;
    const symptoms = SYMPTOMS.map(({ id, title, metrics, remedy }) => ({ id, title, metrics, remedy }));
    const causes = REFUSAL_CAUSES.map((cause) => ({ cause, status: statusOf(cause) }));
    const points: readonly Point[] = timeSeries.points;
    return {
      points,
      pointsMax: POINTS_MAX,
      version,
      node: process.versions.node,
      startedMs,
      settings,
      batchMax,
      symptoms,
      causes,
      ...this.state(),
    };
  }

  private state(): object {
    const { timeSeries, deadlineMs } = this.options;
    const isReady = this.options.isReady();
    const recent = {
      points: timeSeries.points.slice(-JUDGED_POINTS),
      isReady,
      deadlineMs,
      keyStoreAgeS: this.options.keyStoreAgeS?.() ?? 0,
    };
    return {
      ready: isReady,
      model: this.options.modelVersion(),
      red: SYMPTOMS.filter(({ isRed }) => isRed?.(recent) === true).map(({ id }) => id),
    };
  }
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
