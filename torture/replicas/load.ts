import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, requestBytes, type Reply, type Target } from '#acuity/load/connection.js';
import { quantileOf } from '#acuity/load/statistics.js';

/** The results of the load in one phase. */
export interface PhaseOutcome {
  readonly phase: string;
  readonly requests: number;
  readonly failed: number;
  readonly p99Ms: number;
  /** How many answers had each status other than 200; 0: the connection ended. */
  readonly failures: Readonly<Record<string, number>>;
}

interface Phase {
  readonly name: string;
  readonly latenciesMs: number[];
  readonly failures: Map<number, number>;
}

/** Load at a fixed rate that continues across phases; a request counts for the phase in which it was due. */
export class PhasedLoad {
  private readonly outcomes: PhaseOutcome[] = [];
  private readonly idle: Connection[] = [];
  private readonly request: Buffer;
  private phase: Phase | undefined;
  private isRunning = true;
  private outstanding = 0;
  private readonly done: Promise<void>;

  constructor(
    private readonly target: Target,
    body: string,
    private readonly rate: number,
  ) {
    this.request = requestBytes(target, body);
    this.done = this.run();
  }

  /** Requests that wait for their answers. */
  get inFlight(): number {
    return this.outstanding;
  }

  begin(name: string): void {
    process.stderr.write(`${name}\n`);
    this.endPhase();
    this.phase = { name, latenciesMs: [], failures: new Map() };
  }

  async end(): Promise<readonly PhaseOutcome[]> {
    this.isRunning = false;
    await this.done;
    this.endPhase();
    for (const connection of this.idle) connection.close();
    return this.outcomes;
  }

  private endPhase(): void {
    if (this.phase === undefined) return;
    const { name, latenciesMs, failures } = this.phase;
    const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
    const sorted = latenciesMs.toSorted((a, b) => a - b);
    this.outcomes.push({
      phase: name,
      requests: sorted.length + failed,
      failed,
      p99Ms: sorted.length === 0 ? NaN : quantileOf(sorted, 0.99),
      failures: Object.fromEntries(failures),
    });
  }

  private async run(): Promise<void> {
    const startMs = performance.now();
    for (let sent = 0; this.isRunning;) {
      const due = ((performance.now() - startMs) * this.rate) / 1000;
      for (; sent < due; sent++) void this.send(startMs + (sent * 1000) / this.rate);
      await sleep(2);
    }
    while (this.outstanding > 0) await sleep(10);
  }

  private async send(dueMs: number): Promise<void> {
    const { phase } = this;
    if (phase === undefined) return;
    this.outstanding++;
    const status = await this.statusOf();
    this.outstanding--;
    if (status === 200) phase.latenciesMs.push(performance.now() - dueMs);
    else phase.failures.set(status, (phase.failures.get(status) ?? 0) + 1);
  }

  private async statusOf(): Promise<number> {
    let connection: Connection | undefined;
    try {
      connection = openOneOf(this.idle) ?? (await Connection.open(this.target.port));
      const { status, head } = await answerOf(connection, this.request);
      if (/\r\nconnection: *close/i.test(head)) connection.close();
      else this.idle.push(connection);
      return status;
    } catch {
      connection?.close();
      return 0;
    }
  }
}

const ANSWER_MS = 20_000;

/** One that the load balancer has not closed meanwhile. */
function openOneOf(idle: Connection[]): Connection | undefined {
  let connection = idle.pop();
  while (connection?.isOpen === false) connection = idle.pop();
  return connection;
}

/** An answer after the time limit counts as missing. */
async function answerOf(connection: Connection, request: Buffer): Promise<Reply> {
  const timer = setTimeout(() => connection.close(), ANSWER_MS);
  try {
    return await connection.send(request);
  } finally {
    clearTimeout(timer);
  }
}

/** One caller at a given rate that counts its answers by status. */
export class Caller {
  readonly answers = new Map<number, number>();
  private readonly connections: Connection[] = [];

  constructor(private readonly target: Target) {}

  count(status: number): number {
    return this.answers.get(status) ?? 0;
  }

  /** Sends `body` `rate` times a second for so long; resolves when all are answered. */
  async ask(body: string, rate: number, seconds: number): Promise<void> {
    const request = requestBytes(this.target, body);
    const startMs = performance.now();
    const asked: Promise<void>[] = [];
    for (let elapsedMs = 0; elapsedMs < seconds * 1000; elapsedMs = performance.now() - startMs) {
      while (asked.length < (elapsedMs * rate) / 1000) asked.push(this.one(request));
      await sleep(5);
    }
    await Promise.all(asked);
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }

  private async one(request: Buffer): Promise<void> {
    const connection = openOneOf(this.connections) ?? (await Connection.open(this.target.port));
    const reply = await answerOf(connection, request).catch(() => undefined);
    const status = reply?.status ?? 0;
    this.answers.set(status, this.count(status) + 1);
    if (reply === undefined || /\r\nconnection: *close/i.test(reply.head)) connection.close();
    else this.connections.push(connection);
  }
}
