import { furtherBlocks } from '#acuity/http/body.js';
import { EXACT_BYTES } from '#acuity/http/readingTokens.js';
import { EXPLAIN_TOKENS } from '#acuity/contract/explanation.js';
import { NDJSON_TYPE } from '#acuity/contract/mediaTypes.js';
import type { Random } from '#acuity/base/random.js';
import { answerFault, modelOf, scoredFault, type Due } from './due.js';
import { Person } from './persons.js';
import { pastSumOf, scoresOf } from './scores.js';
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
  /** What it costs of its key's rate once all of it was read. */
  readonly tokens: number;
  allows(status: number): boolean;
  /** What is wrong with a 200; undefined where nothing is. Absent: nothing of it may be scored. */
  readonly fault?: (answer: Answer) => string | undefined;
  /** It has its answer; undefined: it never will. */
  readonly settled?: (answer: Answer | undefined) => void;
}

export interface CallersOptions {
  readonly random: Random;
  readonly bodyMaxBytes: number;
  readonly queueMax: number;
  /** Shares of requests, 0 to 1. */
  readonly odds: { readonly slow: number; readonly poison: number };
  readonly poison: Set<number>;
  readonly unlucky: ReadonlySet<number>;
  fault(what: string): void;
}

/** A line of a list, and what may be answered to it. */
interface Line {
  readonly text: string;
  readonly isExplained: boolean;
  allows(status: number): boolean;
  readonly due?: Due;
}

/** What may be answered to anything with a key. */
const REFUSED = [403, 429, 503];
const PERSONS = 12;
const NIGHTS_MAX = 70;
/** Now and then longer than a queue admits. */
const LINES_MAX = 60;
const WRONG = '{"current_session":{"age":"old"}}';

/** Callers of all kinds, who know what they are owed. */
export class Callers {
  nights = 0;
  private readonly persons: Person[];
  private sessions = 0;

  constructor(private readonly options: CallersOptions) {
    this.persons = Array.from({ length: PERSONS }, () => new Person(options.random));
  }

  /** `key`: in clear. */
  ask(key: string): Ask {
    const draw = this.options.random();
    if (draw < 0.55) return this.single(key, false);
    if (draw < 0.63) return this.single(key, true);
    if (draw < 0.76) return this.night(key);
    if (draw < 0.86) return this.list(key);
    return this.odd(key);
  }

  /** Where stored histories are not what they should be. */
  differences(): string[] {
    return this.persons.flatMap((person) => person.difference() ?? []);
  }

  /** A request of no person. */
  private single(key: string, hasPast: boolean, { bytes = 0, isSlow = false } = {}): Ask {
    const due = this.due(hasPast);
    const body = padded(due.text, bytes);
    return {
      key,
      body,
      isSlow: isSlow || this.draws(this.options.odds.slow),
      tokens: tokensOf(body, due.isExplained),
      allows: this.statusesOf(due),
      fault: (answer) => answerFault(answer, due),
    };
  }

  /** A night of a person; one at a time, as a caller stores what comes back. */
  private night(key: string): Ask {
    const at = Math.floor(this.options.random() * PERSONS);
    const person = this.persons[at];
    if (person === undefined || person.isWaiting) return this.single(key, false);
    const weight = this.weight();
    const day = person.nextDay();
    const isExplained = this.draws(0.1);
    const body = JSON.stringify({
      current_session: session(weight),
      history: person.history,
      night: person.nightOf(day),
      ...(isExplained && { explain: true }),
    });
    const due = { weight, isExplained, marks: person.marks(weight, day) };
    person.isWaiting = true;
    return {
      key,
      body,
      isSlow: this.draws(this.options.odds.slow),
      tokens: tokensOf(body, isExplained),
      allows: this.statusesOf(due),
      fault: (answer) => answerFault(answer, due),
      settled: (answer) => {
        person.isWaiting = false;
        if (answer?.status !== 200) return;
        const { history } = JSON.parse(answer.body) as { readonly history: string };
        person.store(Buffer.from(body), day, scoresOf(due.marks, modelOf(answer)), history);
        this.nights++;
        if (person.nights < NIGHTS_MAX) return;
        const difference = person.difference();
        if (difference !== undefined) this.options.fault(`a person's history: ${difference}`);
        this.persons[at] = new Person(this.options.random);
      },
    };
  }

  /** A list: answered line by line and in its order, or refused as a whole. */
  private list(key: string): Ask {
    const { random, queueMax, odds } = this.options;
    const count = 1 + Math.floor(Math.min(LINES_MAX, queueMax) * random() ** 2);
    const lines = Array.from({ length: count }, () => this.line());
    const gap = this.draws(0.1) ? '\n\n' : '\n';
    const body = lines.map(({ text }) => text).join(gap);
    const explained = lines.filter(({ isExplained }) => isExplained).length;
    return {
      key,
      body,
      type: NDJSON_TYPE,
      isSlow: this.draws(odds.slow),
      tokens: Math.max(count + explained * (EXPLAIN_TOKENS - 1), 1 + furtherBlocks(body.length)),
      // A list that is too long is refused, and one line never is.
      allows: (status) => status === 200 || (status === 422 && count > 1) || REFUSED.includes(status),
      fault: (answer) => linesFault(answer, lines),
    };
  }

  private line(): Line {
    const draw = this.options.random();
    const refused = (text: string, due: number): Line => ({
      text,
      isExplained: false,
      allows: (status) => status === due || status === 503,
    });
    if (draw < 0.05) return refused('{"current_session":', 400);
    if (draw < 0.1) return refused(WRONG, 422);
    const due = this.due(this.draws(0.2));
    return { text: due.text, isExplained: due.isExplained, allows: this.statusesOf(due), due };
  }

  /** A request that is wrong in some way, or long. */
  private odd(key: string): Ask {
    const { random, bodyMaxBytes } = this.options;
    const body = JSON.stringify({ current_session: session(this.weight()) });
    const wrong = (statuses: readonly number[], ask: Partial<Ask> = {}): Ask => {
      const made = { key, body, ...ask };
      return { ...made, tokens: tokensOf(made.body, false), allows: (status) => statuses.includes(status) };
    };
    switch (Math.floor(11 * random())) {
      case 0:
        return wrong([400, ...REFUSED], { body: body.slice(0, -1) });
      case 1:
        return wrong([422, ...REFUSED], { body: WRONG });
      case 2:
        return wrong([401], { key: '' });
      case 3:
        return wrong([403], { key: `${key.slice(0, -1)}?` });
      case 4:
        return wrong([404], { path: '/elsewhere' });
      case 5:
        return wrong([405], { method: 'PUT' });
      case 6:
        return wrong([415, ...REFUSED], { type: 'text/plain' });
      case 7:
        return wrong([413, ...REFUSED], { body: padded(body, bodyMaxBytes + 1000), isSlow: true });
      case 8:
        return wrong([422, ...REFUSED], { body: '\n\n', type: NDJSON_TYPE });
      default:
        return this.single(key, false, {
          bytes: 0.9 * bodyMaxBytes * random() ** 2,
          isSlow: this.draws(0.7),
        });
    }
  }

  /** What is owed to a session, with or without a past; now and then with an explanation. */
  private due(hasPast: boolean): Due & { readonly text: string } {
    const { random, odds, poison } = this.options;
    const weight = this.weight();
    if (this.draws(odds.poison)) poison.add(weight);
    const isExplained = this.draws(0.08);
    const count = hasPast ? 1 + Math.floor(5 * random()) : 0;
    const past = Array.from({ length: count }, () => Math.round(10_000 * random()) / 100);
    const text = JSON.stringify({
      current_session: session(weight),
      ...(hasPast && { past_sessions: past.map(() => ({ age: 40 })), past_targets: past.map(targetOf) }),
      ...(isExplained && { explain: true }),
    });
    return { text, weight, isExplained, marks: { weight, pastCount: count, pastSum: pastSumOf(past) } };
  }

  /** 500 is for requests that end a worker, or that met with two troubles of others. */
  private statusesOf({ weight }: Due): (status: number) => boolean {
    const { poison, unlucky } = this.options;
    return (status) =>
      status === 200 ||
      REFUSED.includes(status) ||
      (status === 500 && (poison.has(weight) || unlucky.has(weight)));
  }

  /** Unlike any other, and short. */
  private weight(): number {
    return Math.round(40e6 + ++this.sessions) / 1e6;
  }

  private draws(chance: number): boolean {
    return this.options.random() < chance;
  }
}

function linesFault(answer: Answer, lines: readonly Line[]): string | undefined {
  const answers = answer.body.split('\n').slice(0, -1);
  if (answers.length !== lines.length) return `${answers.length} answers to ${lines.length} lines`;
  for (const [at, { allows, due }] of lines.entries()) {
    const said = JSON.parse(answers[at] ?? '') as { readonly status?: number };
    const status = said.status ?? 200;
    const isOwed = allows(status) && (status !== 200 || due !== undefined);
    const fault = isOwed ? undefined : `is answered ${status}`;
    const wrong = due !== undefined && status === 200 ? scoredFault(said, due, modelOf(answer)) : fault;
    if (wrong !== undefined) return `line ${at}: ${wrong}`;
  }
  return undefined;
}

function tokensOf(body: string, isExplained: boolean): number {
  return 1 + furtherBlocks(body.length) + (isExplained ? EXPLAIN_TOKENS - 1 : 0);
}

/** What a body costs that is refused once it is read: the exact path alone refuses. */
export function refusedTokens({ length }: string): number {
  return 1 + Math.max(furtherBlocks(length), Math.ceil(length / EXACT_BYTES) - 1);
}

function session(weight: number): object {
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
