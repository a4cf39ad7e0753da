import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, requestBytes } from './connection.js';
import { latencyQuantiles, type Load, type Measurement } from './measurement.js';

export interface OpenLoopLoad extends Load {
  /** Requests per second, evenly spaced. */
  readonly rate: number;
  /** How long to wait for the last responses after the last request. */
  readonly lastAnswersMs?: number;
}

/** How often the schedule is checked; all requests due since are sent. */
const TICK_MS = 1;
const LAST_ANSWERS_MS = 10_000;

/**
 * Sends at a fixed rate regardless of the responses. A latency counts from when the request was due, not from when a
 * connection was free, so the time in which a server is late is not left out (coordinated omission). autocannon's own
 * rate won't do: its connections send a whole second's requests in one burst, and its correction assumes one
 * millisecond between requests at any rate.
 */
export async function runOpenLoop(load: OpenLoopLoad): Promise<Measurement> {
  const { target, bodies, connections, seconds, rate, lastAnswersMs = LAST_ANSWERS_MS } = load;
  const requests = bodies.map((body) => requestBytes(target, body));
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(target.port)));
  try {
    return await new Schedule(open, requests, rate, Math.max(1, Math.floor(seconds * rate))).run(
      lastAnswersMs,
    );
  } finally {
    for (const connection of open) connection.close();
  }
}

class Schedule {
  private readonly latenciesMs: Float64Array;
  private readonly free: Connection[];
  private sent = 0;
  private answered = 0;
  private errors = 0;
  private startMs = 0;

  constructor(
    connections: readonly Connection[],
    private readonly requests: readonly Buffer[],
    private readonly rate: number,
    private readonly count: number,
  ) {
    this.free = [...connections];
    this.latenciesMs = new Float64Array(count);
  }

  async run(lastAnswersMs: number): Promise<Measurement> {
    this.startMs = performance.now();
    const endMs = this.startMs + (this.count * 1000) / this.rate + lastAnswersMs;
    while (this.answered + this.errors < this.count && performance.now() < endMs) {
      this.sendDue();
      await sleep(TICK_MS);
    }
    const sorted = this.latenciesMs.subarray(0, this.answered).toSorted();
    return {
      requests: this.answered,
      seconds: (performance.now() - this.startMs) / 1000,
      ...latencyQuantiles(sorted),
      errors: this.errors + (this.count - this.answered - this.errors),
    };
  }

  private sendDue(): void {
    const due = Math.min(this.count, ((performance.now() - this.startMs) * this.rate) / 1000);
    while (this.sent < due) {
      const connection = this.free.pop();
      if (connection === undefined) return; // it stays due: the wait counts
      this.send(connection, this.sent++);
    }
  }

  private send(connection: Connection, index: number): void {
    const dueMs = this.startMs + (index * 1000) / this.rate;
    const request = this.requests[index % this.requests.length];
    if (request === undefined) throw new RangeError('no requests');
    connection.send(request).then(
      ({ status }) => {
        this.free.push(connection);
        if (status === 200) this.latenciesMs[this.answered++] = performance.now() - dueMs;
        else this.errors++;
        this.sendDue();
      },
      () => {
        this.errors++; // the connection is gone and not returned
      },
    );
  }
}
