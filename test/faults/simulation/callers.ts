import { NDJSON_TYPE } from '#acuity/contract/mediaTypes.js';
import type { Random } from '#acuity/base/random.js';
import { pastSumOf, scoreFault, type Marks } from './scores.js';
import type { Answer } from './socket.js';

/** A request, and what its caller is owed. */
export interface Ask {
  readonly key: string;
  readonly body: string;
  readonly path?: string;
  readonly method?: string;
  readonly type?: string;
  /** Its body takes its time. */
  readonly isSlow?: boolean;
  allows(status: number): boolean;
  /** What is wrong with a 200; undefined where nothing is. Absent: nothing of it may be scored. */
  readonly fault?: (answer: Answer) => string | undefined;
}

export interface CallersOptions {
  readonly random: Random;
  readonly bodyMaxBytes: number;
  readonly queueMax: number;
  /** Shares of requests, 0 to 1. */
  readonly odds: { readonly slow: number; readonly poison: number };
  readonly poison: Set<number>;
  readonly unlucky: ReadonlySet<number>;
}

/** A session, or a line of a list, and what may be answered to it. */
interface Due {
  readonly text: string;
  allows(status: number): boolean;
  /** Of a session that may be scored. */
  readonly marks?: Marks;
}

/** What may be answered to anything with a key. */
const REFUSED = [403, 429, 503];
/** Now and then longer than a queue admits. */
const LINES_MAX = 60;
const WRONG = '{"current_session":{"age":"old"}}';

/** Callers of all kinds, who know what they are owed. */
export class Callers {
  private sessions = 0;

  constructor(private readonly options: CallersOptions) {}

  /** `key`: in clear. */
  ask(key: string): Ask {
    const draw = this.options.random();
    if (draw < 0.7) return this.single(key, draw > 0.6);
    return draw < 0.84 ? this.list(key) : this.odd(key);
  }

  private single(key: string, hasPast: boolean, { bytes = 0, isSlow = false } = {}): Ask {
    const { text, allows, marks } = this.session(hasPast);
    return {
      key,
      body: padded(text, bytes),
      isSlow: isSlow || this.draws(this.options.odds.slow),
      allows,
      fault: (answer) => marks && scoreFault(JSON.parse(answer.body) as object, marks, modelOf(answer)),
    };
  }

  /** A list: answered line by line and in its order, or refused as a whole. */
  private list(key: string): Ask {
    const { random, queueMax, odds } = this.options;
    const count = 1 + Math.floor(Math.min(LINES_MAX, queueMax) * random() ** 2);
    const lines = Array.from({ length: count }, () => this.line());
    return {
      key,
      body: lines.map(({ text }) => text).join(this.draws(0.1) ? '\n\n' : '\n'),
      type: NDJSON_TYPE,
      isSlow: this.draws(odds.slow),
      // A list that is too long is refused, and one line never is.
      allows: (status) => status === 200 || (status === 422 && count > 1) || REFUSED.includes(status),
      fault: (answer) => linesFault(answer, lines),
    };
  }

  private line(): Due {
    const draw = this.options.random();
    const refused = (text: string, due: number): Due => ({
      text,
      allows: (status) => status === due || status === 503,
    });
    if (draw < 0.05) return refused('{"current_session":', 400);
    return draw < 0.1 ? refused(WRONG, 422) : this.session(this.draws(0.2));
  }

  /** A request that is wrong in some way, or long. */
  private odd(key: string): Ask {
    const { random, bodyMaxBytes } = this.options;
    const body = JSON.stringify({ current_session: sessionOf(this.weight()) });
    const wrong: readonly (readonly [statuses: readonly number[], ask: Partial<Ask>])[] = [
      [[400, ...REFUSED], { body: body.slice(0, -1) }],
      [[422, ...REFUSED], { body: WRONG }],
      [[401], { key: '' }],
      [[403], { key: `${key.slice(0, -1)}?` }],
      [[404], { path: '/elsewhere' }],
      [[405], { method: 'PUT' }],
      [[415, ...REFUSED], { type: 'text/plain' }],
      [[413, ...REFUSED], { body: padded(body, bodyMaxBytes + 1000), isSlow: true }],
      [[422, ...REFUSED], { body: '\n\n', type: NDJSON_TYPE }],
    ];
    const drawn = wrong[Math.floor((wrong.length + 2) * random())];
    if (drawn !== undefined) return { key, body, ...drawn[1], allows: (status) => drawn[0].includes(status) };
    const bytes = 0.9 * bodyMaxBytes * random() ** 2;
    return this.single(key, false, { bytes, isSlow: this.draws(0.7) });
  }

  /** What is owed to a session, with or without a past. */
  private session(hasPast: boolean): Due {
    const { random, odds, poison, unlucky } = this.options;
    const weight = this.weight();
    if (this.draws(odds.poison)) poison.add(weight);
    const pastCount = hasPast ? 1 + Math.floor(5 * random()) : 0;
    const past = Array.from({ length: pastCount }, () => Math.round(10_000 * random()) / 100);
    const text = JSON.stringify({
      current_session: sessionOf(weight),
      ...(hasPast && { past_sessions: past.map(() => ({ age: 40 })), past_targets: past.map(targetOf) }),
    });
    // 500 is for requests that end a worker, or that met with two troubles of others.
    const allows = (status: number): boolean =>
      status === 200 ||
      REFUSED.includes(status) ||
      (status === 500 && (poison.has(weight) || unlucky.has(weight)));
    return { text, allows, marks: { weight, pastCount, pastSum: pastSumOf(past) } };
  }

  /** Unlike any other, and short. */
  private weight(): number {
    return Math.round(40e6 + ++this.sessions) / 1e6;
  }

  private draws(chance: number): boolean {
    return this.options.random() < chance;
  }
}

/** The model that answered. */
function modelOf({ headers }: Answer): number {
  return Number(headers['x-model-version']?.slice('sim/'.length));
}

function linesFault(answer: Answer, lines: readonly Due[]): string | undefined {
  const answers = answer.body.split('\n').slice(0, -1);
  if (answers.length !== lines.length) return `${answers.length} answers to ${lines.length} lines`;
  for (const [at, { allows, marks }] of lines.entries()) {
    const said = JSON.parse(answers[at] ?? '') as { readonly status?: number };
    const { status = 200 } = said;
    const isOwed = allows(status) && (status !== 200 || marks !== undefined);
    const wrong = isOwed && marks && status === 200 ? scoreFault(said, marks, modelOf(answer)) : undefined;
    if (!isOwed || wrong !== undefined) return `line ${at}: ${wrong ?? `is answered ${status}`}`;
  }
  return undefined;
}

function sessionOf(weight: number): object {
  return {
    age: 40,
    height_cm: 170,
    weight_kg: weight,
    sex: 'F',
    sleepTimeSeconds: 26_100,
    HR_night: [60, 61, 59],
  };
}

function targetOf(score: number): object {
  const others = { attention: 50, memory: 50, reasoning: 50, stress: 50, valence: 'Low', arousal: 'High' };
  return { C_SCORE: score, ...others };
}

/** White space makes a body long. */
function padded(body: string, bytes: number): string {
  return `{${' '.repeat(Math.max(0, Math.floor(bytes) - body.length))}${body.slice(1)}`;
}
