import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { pick } from '#acuity/base/random.js';
import { NDJSON_TYPE } from '#acuity/contract/mediaTypes.js';
import type { Ask } from './callers.js';
import type { Line } from './line.js';
import type { Member } from './quotaBound.js';
import type { Replica } from './replica.js';
import type { Actor, Scheduler } from './scheduler.js';
import { SimulatedRequest, SimulatedResponse, type Answer, type Head } from './socket.js';

/** A process in the place of a replica: where requests go. */
export class Seat {
  readonly replica: Replica;
  readonly lines: Line[] = [];
  isStopping = false;
  /** Key id → since when the process could know that it is revoked. */
  readonly visibleSinceMs = new Map<string, number>();
  /** Ids of keys that the process has had the time to see as revoked. */
  readonly mustRefuse = new Set<string>();
  /** Ids of keys that it honoured when the store last held any. */
  readonly honoured = new Set<string>();

  constructor(
    readonly actor: Actor,
    readonly member: Member,
    /** When it last was not in contact with the store. */
    public troubledMs: number,
    replicaOf: (seat: Seat) => Replica,
  ) {
    this.replica = replicaOf(this);
  }

  /** Whether it is in contact with the store, and nothing is under way that began when it was not. */
  get isReached(): boolean {
    const isSound = ({ state, doubtful }: Line): boolean => state === 'sound' && doubtful === 0;
    return !this.actor.isPaused && this.lines.every(isSound);
  }
}

export interface TrafficOptions {
  readonly scheduler: Scheduler;
  readonly deadlineMs: number;
  /** Longest that an answer may take from the last byte on, of the time that the process is awake. */
  readonly answerMaxMs: number;
  /** Share of requests whose callers hang up, 0 to 1. */
  readonly hangUps: number;
  targets(): readonly Seat[];
  /** A key in clear. */
  key(): string;
  ask(key: string): Ask;
  /** A request has ended, with so many predictions. */
  settled(key: string, predictions: number): void;
  /** Something happened, once or so many times. */
  count(what: string, times?: number): void;
  fault(what: string): void;
}

interface Sent {
  readonly id: string;
  readonly ask: Ask;
  readonly target: Seat;
  readonly response: SimulatedResponse;
  /** When its last byte came, of the time that its process is awake; undefined while it comes. */
  wholeAwakeMs: number | undefined;
  /** How long its caller did not read the answer. */
  unreadMs: number;
  isAnswered: boolean;
  isGone: boolean;
}

const PIECES_MAX = 6;

/** Carries requests to the processes, and looks at what comes back. */
export class Traffic {
  private readonly open = new Set<Sent>();
  private requests = 0;

  constructor(private readonly options: TrafficOptions) {}

  /**
   * So many requests, each with a body of its own, to one process in one turn of its loop or one after the other; as
   * often as not all of one caller.
   */
  send(count: number, isTogether: boolean): void {
    const { scheduler, key } = this.options;
    const targets = this.options.targets();
    if (targets.length === 0) return;
    const target = pick(this.options.scheduler.random, targets);
    const ofAll = this.random() < 0.5 ? key() : undefined;
    const atOnce: (() => void)[] = [];
    for (let sent = 0; sent < count; sent++) {
      const to = isTogether ? target : pick(this.options.scheduler.random, targets);
      const arrive = this.request(to, ofAll ?? key());
      if (isTogether) atOnce.push(arrive);
      else scheduler.after(to.actor, 3 * scheduler.random(), arrive);
    }
    if (isTogether)
      scheduler.after(target.actor, 3 * scheduler.random(), () => {
        for (const arrive of atOnce) arrive();
      });
  }

  /** The connections of a process are lost: it has ended, or, where it lives and is told, closes its listener. */
  lose(replica: Replica, isTold: boolean): void {
    for (const sent of this.open) {
      if (sent.target.replica !== replica) continue;
      this.open.delete(sent);
      if (!sent.isAnswered && !sent.isGone) this.lost(sent, isTold);
    }
  }

  /** What waits for an answer for too long is a fault. */
  check(): void {
    for (const sent of this.open) {
      const { id, target, wholeAwakeMs = Infinity, unreadMs } = sent;
      const waitedMs = this.options.scheduler.awakeMs(target.actor) - wholeAwakeMs - unreadMs;
      if (sent.isGone || sent.isAnswered) this.open.delete(sent);
      else if (waitedMs > this.options.answerMaxMs)
        this.options.fault(`${id} waits for its answer for ${Math.round(waitedMs)} ms`);
    }
  }

  get waiting(): number {
    this.check();
    return this.open.size;
  }

  /** @returns what happens when its head arrives */
  private request(target: Seat, key: string): () => void {
    const { deadlineMs, hangUps } = this.options;
    this.options.count('requests');
    const ask = this.options.ask(key);
    const { isSlow = false } = ask;
    const id = `r${++this.requests}`;
    const bytes = Buffer.from(ask.body);
    const isChunked = this.random() < 0.15;
    const head = this.head(ask, id, isChunked ? undefined : bytes.length);
    const response = new SimulatedResponse(
      (answer) => this.take(sent, answer),
      () => this.reads(sent),
    );
    const sent: Sent = {
      id,
      ask,
      target,
      response,
      wholeAwakeMs: undefined,
      unreadMs: 0,
      isAnswered: false,
      isGone: false,
    };
    return () => {
      if (!target.replica.isOpen) return;
      this.open.add(sent);
      this.arrive(sent, head);
      this.body(sent, bytes, isSlow);
      if (this.random() < hangUps) this.hangUp(sent, isSlow ? 3000 : deadlineMs);
    };
  }

  /** `length`: undefined of a chunked body. */
  private head({ key, method = 'POST', path = '/predict', type }: Ask, id: string, length?: number): Head {
    const { deadlineMs } = this.options;
    const patienceMs = this.random() < 0.1 ? 1 + Math.floor(deadlineMs * this.random()) : undefined;
    return {
      method,
      path,
      headers: {
        ...(key !== '' && { 'x-api-key': key }),
        'content-type': type ?? 'application/json',
        'x-request-id': id,
        ...(length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(length) }),
        ...(patienceMs !== undefined && { 'x-deadline-ms': String(patienceMs) }),
      },
    };
  }

  /** Most pieces of an answer are read at once, some after a while. */
  private reads(sent: Sent): boolean {
    if (this.random() < 0.7) return true;
    const waitMs = 300 * this.random() ** 3;
    sent.unreadMs += waitMs;
    this.options.scheduler.after(sent.target.actor, waitMs, () => sent.response.read());
    return false;
  }

  private arrive({ target, response }: Sent, head: Head): void {
    const predict = pick(this.options.scheduler.random, target.replica.loops);
    const request = new SimulatedRequest(head);
    const pair = [response as unknown as HttpResponse, request as unknown as HttpRequest] as const;
    if (head.path !== '/predict') predict.notFound(...pair);
    else if (head.method !== 'POST') predict.methodNotAllowed(...pair);
    else predict.handle(...pair);
    request.end();
  }

  /** Its bytes: in the packet of the head, or after it, in pieces that take their time. */
  private body(sent: Sent, bytes: Buffer, isSlow: boolean): void {
    const { scheduler } = this.options;
    const { target, response } = sent;
    const end = (from: number): void => {
      sent.wholeAwakeMs = scheduler.awakeMs(target.actor);
      response.receive(bytes.subarray(from), true);
    };
    // A head in a packet of its own: the library hands on an empty piece first.
    const isApart = this.random() < 0.4;
    if (isApart && bytes.length > 0) response.receive(bytes.subarray(0, 0), false);
    if (!isApart && !isSlow) return end(0);
    const pieces = isSlow ? 1 + Math.floor(PIECES_MAX * this.random()) : 1;
    let [afterMs, from] = [0, 0];
    for (let piece = 1; piece <= pieces; piece++) {
      afterMs += isSlow ? 2000 * this.random() ** 3 : 3 * this.random();
      const start = from;
      const to = piece === pieces ? bytes.length : Math.floor((bytes.length * piece) / pieces);
      from = to;
      scheduler.after(target.actor, afterMs, () => {
        if (piece === pieces) end(start);
        else response.receive(bytes.subarray(start, to), false);
      });
    }
  }

  private hangUp(sent: Sent, withinMs: number): void {
    const { scheduler } = this.options;
    scheduler.after(sent.target.actor, withinMs * scheduler.random() ** 2, () => {
      if (sent.isAnswered || sent.isGone) return;
      this.lost(sent, true);
    });
  }

  private lost(sent: Sent, isTold: boolean): void {
    sent.isGone = true;
    if (isTold) sent.response.abort();
  }

  private take(sent: Sent, answer: Answer): void {
    const { fault, scheduler, settled, count } = this.options;
    const { id, ask } = sent;
    if (sent.isAnswered) return fault(`${id} is answered twice`);
    sent.isAnswered = true;
    const { status, body } = answer;
    scheduler.note(status);
    count(`answered ${status}`);
    if (answer.headers['x-request-id'] !== id) return fault(`${id} gets the answer of another request`);
    if (!ask.allows(status)) return fault(`${id} is answered ${status}: ${body}`);
    if (status !== 200) return;
    if (ask.fault === undefined) return fault(`${id} is scored, and should have been refused`);
    const difference = ask.fault(answer);
    if (difference !== undefined) return fault(`${id} gets ${difference}`);
    const predictions = predictionsIn(answer, ask);
    if (ask.type === NDJSON_TYPE) count('lines of lists answered', predictions);
    settled(ask.key, predictions);
  }

  private random(): number {
    return this.options.scheduler.random();
  }
}

function predictionsIn({ body }: Answer, { type }: Ask): number {
  if (type !== NDJSON_TYPE) return 1;
  return body.split('\n').filter((line) => line !== '' && !line.startsWith('{"status":')).length;
}
