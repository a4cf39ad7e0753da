/** The feed of the live page. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MetricReader } from '../base/metrics.js';
import { Observer } from '../base/observer.js';
import { settingsOf } from '../config/documentation.js';
import { type Config, defaultConfig } from '../config/options.js';
import { type LoopCatalogue, REFUSAL_CAUSES, statusOf } from '../contract/metrics.js';
import { packageVersion } from '../base/process/packageVersion.js';
import { differencesIn } from './differences.js';
import { diagnose, signWords } from './diagnosis.js';
import { answer } from './jsonAnswer.js';
import { JUDGED_POINTS, type ProcessState } from './measurements.js';
import { SYMPTOMS } from './symptoms.js';
import { PARTS, POINTS_MAX, type TimeSeries, type Point } from './timeSeries.js';

export interface DashboardOptions {
  readonly reader: MetricReader<LoopCatalogue>;
  readonly timeSeries: TimeSeries;
  readonly config: Config;
  state(): ProcessState;
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
  /** The configuration of this machine with no variable set. */
  private readonly defaults = defaultConfig();
  private readonly startedMs = Date.now() - process.uptime() * 1000;

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
      return answer(response, 503, { detail: 'Too many viewers' });
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
    const text = event('point', { point, ...this.now() });
    for (const viewer of this.viewers) {
      if (viewer.writableLength > UNREAD_BYTES_MAX) viewer.destroy();
      else viewer.write(text);
    }
  }

  private everything(): object {
    const { timeSeries, config } = this.options;
    const { batchMax, grafanaUrl, tryPage: hasTry } = config;
    const symptoms = SYMPTOMS.map((symptom) => ({ ...symptom, signs: symptom.signs.map(signWords) }));
    const causes = REFUSAL_CAUSES.map((cause) => ({ cause, status: statusOf(cause) }));
    return {
      points: timeSeries.points,
      pointsMax: POINTS_MAX,
      judgedPoints: JUDGED_POINTS,
      version: packageVersion(),
      node: process.versions.node,
      startedMs: this.startedMs,
      settings: settingsOf(config, this.defaults),
      batchMax,
      symptoms,
      causes,
      stages: PARTS,
      grafanaUrl,
      hasTry,
      ...this.now(),
    };
  }

  private now(): object {
    const { timeSeries, config, reader } = this.options;
    const state = this.options.state();
    const { shadowModel: version, shadowRefusal: refusal } = state;
    const shadow = { share: config.shadowShare, version, refusal };
    return {
      ready: state.isReady,
      model: state.model,
      diagnosis: diagnose({ ...config, ...state, points: timeSeries.points.slice(-JUDGED_POINTS) }),
      ...(config.shadowModel === '' ? {} : { shadow: { ...shadow, ...differencesIn(reader) } }),
    };
  }
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
