import { hundredths } from '#acuity/pipeline/respond.js';
import { SCORE_FIELDS } from '#rules/fields.js';
import { Person } from './persons.js';
import type { Replica } from './replica.js';
import type { Actor, Scheduler } from './scheduler.js';
import { pastSumOf, scoresOf, THRESHOLDS } from './scores.js';
import { SimulatedRequest, SimulatedResponse, type Answer, type Head } from './socket.js';

/** Where requests go. */
export interface Target {
  readonly replica: Replica;
  readonly actor: Actor;
  /** How long it has not been paused, in ms. */
  awakeMs(): number;
}

export interface TrafficOptions {
  readonly scheduler: Scheduler;
  readonly world: Actor;
  readonly bodyMaxBytes: number;
  readonly deadlineMs: number;
  /** Longest that an answer may take from the last byte on, of the time that the process is awake. */
  readonly answerMaxMs: number;
  /** Shares of requests, 0 to 1. */
  readonly odds: { readonly hangUps: number; readonly slow: number; readonly poison: number };
  readonly poison: Set<number>;
  readonly unlucky: ReadonlySet<number>;
  /** Keys that a caller may have, in clear. */
  keys(): readonly string[];
  targets(): readonly Target[];
  /** An answer of 200 to a request with that key. */
  served(key: string): void;
  fault(what: string): void;
}

/** What a request may be answered. */
interface Expected {
  allows(status: number): boolean;
  /** Of a 200: the scores that a model gives it. */
  readonly scores?: (model: number) => Float32Array;
}

interface Sent {
  readonly id: string;
  readonly key: string;
  readonly target: Target;
  readonly expected: Expected;
  readonly response: SimulatedResponse;
  readonly answered: (answer: Answer | undefined) => void;
  /** When its last byte came, of the time that its process is awake; undefined while it comes. */
  wholeAwakeMs: number | undefined;
  isAnswered: boolean;
  isGone: boolean;
}

/** What may be answered to anything with a key. */
const REFUSED = [403, 429, 503];
const PIECES_MAX = 6;
const PERSONS = 12;
const NIGHTS_MAX = 70;

export interface TrafficFigures {
  requests: number;
  nights: number;
  hangUps: number;
  readonly statuses: Map<number, number>;
}

/** Callers of all kinds, and what each is owed. */
export class Traffic {
  readonly figures: TrafficFigures = { requests: 0, nights: 0, hangUps: 0, statuses: new Map() };
  private readonly open = new Set<Sent>();
  private readonly persons: Person[] = [];
  private numbers = 0;

  constructor(private readonly options: TrafficOptions) {
    for (let index = 0; index < PERSONS; index++) this.persons.push(new Person(options.scheduler.random));
  }

  /** So many requests, each with a body of its own, to one process in one turn of its loop or one after the other. */
  send(count: number, isTogether: boolean): void {
    const { scheduler } = this.options;
    const targets = this.options.targets();
    if (targets.length === 0) return;
    const target = this.pick(targets);
    const atOnce: (() => void)[] = [];
    for (let sent = 0; sent < count; sent++) {
      const to = isTogether ? target : this.pick(targets);
      const arrive = this.request(to);
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
      if (sent.isAnswered || sent.isGone) continue;
      sent.isGone = true;
      if (isTold) sent.response.abort();
      sent.answered(undefined);
    }
  }

  /** What waits for an answer for too long is a fault. */
  check(): void {
    for (const sent of this.open) {
      if (sent.isGone || sent.isAnswered) this.open.delete(sent);
      else if (sent.wholeAwakeMs !== undefined) this.checkWait(sent, sent.wholeAwakeMs);
    }
  }

  get waiting(): number {
    this.check();
    return this.open.size;
  }

  differences(): string[] {
    return this.persons.flatMap((person) => person.difference() ?? []);
  }

  private checkWait({ id, target }: Sent, sinceMs: number): void {
    const waitedMs = target.awakeMs() - sinceMs;
    if (waitedMs > this.options.answerMaxMs)
      this.options.fault(`${id} waits for its answer for ${Math.round(waitedMs)} ms`);
  }

  /** @returns what happens when its head arrives */
  private request(target: Target): () => void {
    const draw = this.random();
    if (draw < 0.62) return this.plain(target, false);
    if (draw < 0.72) return this.plain(target, true);
    if (draw < 0.86) return this.night(target);
    return this.odd(target);
  }

  /** A request of no person, with or without a past. */
  private plain(target: Target, hasPast: boolean, { bytes = 0, isSlow = false } = {}): () => void {
    const weight = this.weight();
    const { poison, odds } = this.options;
    const isPoison = this.random() < odds.poison;
    if (isPoison) poison.add(weight);
    const count = hasPast ? 1 + Math.floor(5 * this.random()) : 0;
    const past = Array.from({ length: count }, () => Math.round(10_000 * this.random()) / 100);
    const body = JSON.stringify({
      current_session: this.session(weight),
      ...(hasPast && { past_sessions: past.map(() => ({ age: 40 })), past_targets: past.map(targetOf) }),
    });
    const marks = { weight, pastCount: count, pastSum: pastSumOf(past) };
    return this.post(target, padded(body, bytes), {
      key: this.pick(this.options.keys()),
      isSlow: isSlow || this.random() < odds.slow,
      expected: { allows: this.statusesOf(weight), scores: (model) => scoresOf(marks, model) },
    });
  }

  /** A night of a person; one at a time, as a caller stores what comes back. */
  private night(target: Target): () => void {
    const at = Math.floor(this.random() * PERSONS);
    const person = this.persons[at];
    if (person === undefined || person.isWaiting) return this.plain(target, false);
    const weight = this.weight();
    const day = person.nextDay();
    const night = person.nightOf(day);
    const body = JSON.stringify({ current_session: this.session(weight), history: person.history, night });
    const scores = person.expected(weight, day);
    person.isWaiting = true;
    return this.post(target, body, {
      key: this.pick(this.options.keys()),
      isSlow: this.random() < this.options.odds.slow,
      expected: { allows: this.statusesOf(weight), scores },
      answered: (answer) => {
        person.isWaiting = false;
        if (answer?.status !== 200) return;
        const { history } = JSON.parse(answer.body) as { readonly history: string };
        person.store(Buffer.from(body), day, scores(modelOf(answer)), history);
        this.figures.nights++;
        if (person.nights < NIGHTS_MAX) return;
        const difference = person.difference();
        if (difference !== undefined) this.options.fault(`a person's history: ${difference}`);
        this.persons[at] = new Person(this.options.scheduler.random);
      },
    });
  }

  /** A request that is wrong in some way, or long. */
  private odd(target: Target): () => void {
    const key = this.pick(this.options.keys());
    const body = JSON.stringify({ current_session: this.session(this.weight()) });
    const draw = Math.floor(10 * this.random());
    const wrong = (statuses: readonly number[]): Expected => ({
      allows: (status) => statuses.includes(status),
    });
    switch (draw) {
      case 0:
        return this.post(target, body.slice(0, -1), { key, expected: wrong([400, ...REFUSED]) });
      case 1:
        return this.post(target, '{"current_session":{"age":"old"}}', {
          key,
          expected: wrong([422, ...REFUSED]),
        });
      case 2:
        return this.post(target, body, { key: '', expected: wrong([401]) });
      case 3:
        return this.post(target, body, { key: `${key.slice(0, -1)}?`, expected: wrong([403]) });
      case 4:
        return this.post(target, body, { key, expected: wrong([404]), path: '/elsewhere' });
      case 5:
        return this.post(target, body, { key, expected: wrong([405]), method: 'PUT' });
      case 6:
        return this.post(target, body, { key, expected: wrong([415, ...REFUSED]), type: 'text/plain' });
      case 7: {
        const long = padded(body, this.options.bodyMaxBytes + 1000);
        return this.post(target, long, { key, expected: wrong([413, ...REFUSED]), isSlow: true });
      }
      default:
        return this.plain(target, false, {
          bytes: 0.9 * this.options.bodyMaxBytes * this.random() ** 2,
          isSlow: this.random() < 0.7,
        });
    }
  }

  private post(
    target: Target,
    body: string,
    request: {
      readonly key: string;
      readonly expected: Expected;
      readonly path?: string;
      readonly method?: string;
      readonly type?: string;
      readonly isSlow?: boolean;
      readonly answered?: (answer: Answer | undefined) => void;
    },
  ): () => void {
    const { scheduler, world, odds } = this.options;
    const { key, expected, path = '/predict', method = 'POST', type = 'application/json' } = request;
    const id = `r${++this.numbers}`;
    const bytes = Buffer.from(body);
    const isChunked = this.random() < 0.15;
    const patienceMs =
      this.random() < 0.1 ? 1 + Math.floor(this.options.deadlineMs * this.random()) : undefined;
    const head: Head = {
      method,
      path,
      headers: {
        ...(key !== '' && { 'x-api-key': key }),
        'content-type': type,
        'x-request-id': id,
        ...(isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(bytes.length) }),
        ...(patienceMs !== undefined && { 'x-deadline-ms': String(patienceMs) }),
      },
    };
    const response = new SimulatedResponse((answer) => {
      this.take(sent, answer);
      scheduler.after(world, 0.1 + 5 * scheduler.random() ** 2, () => {
        if (!sent.isGone) sent.answered(answer);
      });
    });
    const sent: Sent = {
      id,
      key,
      target,
      expected,
      response,
      answered: request.answered ?? (() => undefined),
      wholeAwakeMs: undefined,
      isAnswered: false,
      isGone: false,
    };
    this.figures.requests++;
    const isSlow = request.isSlow ?? false;
    return () => {
      if (!target.replica.isOpen) return sent.answered(undefined);
      this.open.add(sent);
      this.arrive(sent, head);
      this.body(sent, bytes, isSlow);
      if (this.random() < odds.hangUps) this.hangUp(sent, isSlow ? 3000 : this.options.deadlineMs);
    };
  }

  private arrive({ target, response }: Sent, head: Head): void {
    const loop = this.pick(target.replica.loops);
    const { predict } = loop;
    const request = new SimulatedRequest(head);
    if (head.path !== '/predict') predict.notFound(response.asResponse, request.asRequest);
    else if (head.method !== 'POST') predict.methodNotAllowed(response.asResponse, request.asRequest);
    else predict.handle(response.asResponse, request.asRequest);
    request.end();
  }

  /** Its bytes: in the packet of the head, or after it, in pieces that take their time. */
  private body(sent: Sent, bytes: Buffer, isSlow: boolean): void {
    const { scheduler } = this.options;
    const { target, response } = sent;
    const end = (from: number): void => {
      sent.wholeAwakeMs = target.awakeMs();
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
      sent.isGone = true;
      this.figures.hangUps++;
      sent.response.abort();
      sent.answered(undefined);
    });
  }

  private take(sent: Sent, answer: Answer): void {
    const { fault, scheduler, served } = this.options;
    const { id, expected, key } = sent;
    if (sent.isAnswered) return fault(`${id} is answered twice`);
    sent.isAnswered = true;
    const { status } = answer;
    scheduler.note(status);
    this.figures.statuses.set(status, (this.figures.statuses.get(status) ?? 0) + 1);
    if (answer.headers['x-request-id'] !== id) return fault(`${id} gets the answer of another request`);
    if (!expected.allows(status)) return fault(`${id} is answered ${status}: ${answer.body}`);
    if (status !== 200) return;
    served(key);
    const due = expected.scores?.(modelOf(answer));
    if (due === undefined) return fault(`${id} is scored, and should have been refused`);
    const difference = differenceOf(answer.body, due);
    if (difference !== undefined) fault(`${id} has the scores of another request: ${difference}`);
  }

  /** 500 is for requests that end a worker, or that met with two troubles of others. */
  private statusesOf(weight: number): (status: number) => boolean {
    const { poison, unlucky } = this.options;
    return (status) =>
      status === 200 ||
      REFUSED.includes(status) ||
      (status === 500 && (poison.has(weight) || unlucky.has(weight)));
  }

  private session(weight: number): object {
    return {
      age: 40,
      height_cm: 170,
      weight_kg: weight,
      sex: 'F',
      sleepTimeSeconds: 26_100,
      HR_night: [60, 61, 59],
    };
  }

  /** Unlike any other, and short. */
  private weight(): number {
    return Math.round(40e6 + (this.numbers + 1)) / 1e6;
  }

  private random(): number {
    return this.options.scheduler.random();
  }

  private pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.random() * choices.length)];
    if (choice === undefined) throw new RangeError('nothing to pick from');
    return choice;
  }
}

function modelOf({ headers }: Answer): number {
  return Number(headers['x-model-version']?.slice('sim/'.length));
}

function targetOf(score: number): object {
  return {
    C_SCORE: score,
    attention: 50,
    memory: 50,
    reasoning: 50,
    stress: 50,
    valence: 'Low',
    arousal: 'High',
  };
}

/** White space makes a body long. */
function padded(body: string, bytes: number): string {
  return `{${' '.repeat(Math.max(0, Math.floor(bytes) - body.length))}${body.slice(1)}`;
}

/** Where the scores of an answer are not what is due. */
function differenceOf(body: string, due: Float32Array): string | undefined {
  const said = JSON.parse(body) as Record<string, unknown>;
  const [valence = NaN, arousal = NaN] = due.subarray(5);
  const labels = {
    valence: valence >= THRESHOLDS.valence ? 'High' : 'Low',
    arousal: arousal >= THRESHOLDS.arousal ? 'High' : 'Low',
  };
  for (const [at, field] of SCORE_FIELDS.entries())
    if (said[field] !== hundredths(due[at] ?? NaN) / 100) return field;
  for (const [field, label] of Object.entries(labels)) if (said[field] !== label) return field;
  return undefined;
}
