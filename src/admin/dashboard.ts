import type { IncomingMessage, ServerResponse } from 'node:http';
import { Observer } from '../base/observer.js';
import { REFUSAL_CAUSES, statusOf } from '../contract/metrics.js';
import type { Differences } from './differences.js';
import { diagnose, signWords } from './diagnosis.js';
import { JUDGED_POINTS, type Recent } from './measurements.js';
import { SYMPTOMS } from './symptoms.js';
import { PARTS, POINTS_MAX, type TimeSeries, type Point } from './timeSeries.js';

/** A variable of the configuration, safe to show: secrets are masked. */
export interface Setting {
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
  /** Whether it has its default value. */
  readonly isDefault: boolean;
}

/** The shadow model, as the page shows it. */
export interface ShadowView {
  readonly share: number;
  /** The version in force; undefined if there is none. */
  version(): string | undefined;
  /** Why the model in its folder was refused; undefined if it was not. */
  refusal(): string | undefined;
  differences(): Differences;
}

export interface DashboardOptions {
  readonly timeSeries: TimeSeries;
  isReady(): boolean;
  modelVersion(): string;
  /** Why the model in the configured folder was refused; undefined if it serves. */
  modelRefusal(): string | undefined;
  readonly version: string;
  /** When the process started, in milliseconds since 1970. */
  readonly startedMs: number;
  readonly settings: readonly Setting[];
  readonly batchMax: number;
  readonly deadlineMs: number;
  readonly queueMax: number;
  readonly bodiesMaxBytes: number;
  /** Time since the key store was last seen. */
  keyStoreAgeS(): number;
  /** Whether any key may be used. */
  hasKeys(): boolean;
  /** Undefined if no shadow model is configured. */
  readonly shadow: ShadowView | undefined;
  /** Address of the fleet's dashboard; '' if there is none. */
  readonly grafanaUrl: string;
  /** Whether there is a page `/try`. */
  readonly hasTry: boolean;
  /** Called when a second could not be sampled; the next one is tried. */
  onProblem(error: Error): void;
}

const PERIOD_MS = 1000;
const VIEWERS_MAX = 32;
/** A viewer that leaves more than this unread is disconnected; its browser reconnects. */
const UNREAD_BYTES_MAX = 1 << 20;

/**
 * The feed of the live page: server-sent events, `start` with everything known so far, then `point` once a
 * second. Without viewers, a second costs one difference between two readings of the counters.
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
    if (this.viewers.size > 0) this.tell(point);
  }

  private tell(point: Point): void {
    const text = event('point', { point, ...this.state() });
    for (const viewer of this.viewers) {
      if (viewer.writableLength > UNREAD_BYTES_MAX) viewer.destroy();
      else viewer.write(text);
    }
  }

  private everything(): object {
    const { timeSeries, version, startedMs, settings, batchMax, grafanaUrl, hasTry } = this.options;
    const symptoms = SYMPTOMS.map(({ id, title, metrics, remedy, signs }) => ({
      id,
      title,
      metrics,
      remedy,
      signs: signs.map(signWords),
    }));
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
      stages: PARTS,
      grafanaUrl,
      hasTry,
      ...this.state(),
    };
  }

  private state(): object {
    const { shadow } = this.options;
    return {
      ready: this.options.isReady(),
      model: this.options.modelVersion(),
      diagnosis: diagnose(this.recent()),
      ...(shadow === undefined ? {} : { shadow: shadowState(shadow) }),
    };
  }

  private recent(): Recent {
    const { timeSeries, deadlineMs, queueMax, bodiesMaxBytes } = this.options;
    return {
      points: timeSeries.points.slice(-JUDGED_POINTS),
      isReady: this.options.isReady(),
      modelRefusal: this.options.modelRefusal(),
      deadlineMs,
      queueMax,
      bodiesMaxBytes,
      keyStoreAgeS: this.options.keyStoreAgeS(),
      hasKeys: this.options.hasKeys(),
    };
  }
}

function shadowState({ share, version, refusal, differences }: ShadowView): object {
  return { share, version: version(), refusal: refusal(), ...differences() };
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
