import { SCORE_FIELDS } from '#rules/fields.js';
import { below, pick, seededRandom } from '#acuity/base/random.js';
import { Connection, requestBytes, type Reply, type Target } from '#acuity/tune/load/connection.js';
import { requestBody } from '#fixtures/bodies.js';

/** A body and its scores, which no other body of the set has. */
export interface KnownAnswer {
  readonly body: string;
  readonly scores: Scores;
}

/** In the order of `SCORE_FIELDS`, without labels: one near its threshold may fall on either side. */
type Scores = readonly number[];

/** A batch adds in another order than a single request: the second decimal may differ. */
const SAME_MAX = 0.015;
/** Each body has a score at least this far from every other body's. */
const APART_MIN = 0.05;

/**
 * `count` bodies of several lengths and forms, with the scores that the server gives each of them alone. Bodies with
 * scores too similar to another's are left out.
 */
export async function knownAnswers(target: Target, count: number, seed: number): Promise<KnownAnswer[]> {
  const connection = await Connection.open(target.port);
  const found: KnownAnswer[] = [];
  try {
    for (let index = 0; found.length < count; index++) {
      const body = bodyText(seed * 100_000 + index);
      const reply = await connection.send(requestBytes(target, body));
      if (reply.status !== 200) throw new Error(`${reply.status} ${reply.body}`);
      const scores = scoresOf(reply.body);
      if (found.every((other) => isApart(other.scores, scores))) found.push({ body, scores });
    }
  } finally {
    connection.close();
  }
  return found;
}

/** Bodies that take either path of the reader, with and without history. */
function bodyText(seed: number): string {
  const random = seededRandom(seed);
  const past = random() < 0.4 ? 1 + below(random, 5) : 0;
  const { current_session, ...history } = requestBody(past, seed * 7);
  const isShort = random() < 0.6;
  const session = {
    ...current_session,
    HR_night: current_session.HR_night?.slice(0, isShort ? 20 : 220) ?? [],
    RR_night: current_session.RR_night?.slice(0, isShort ? 20 : 220) ?? [],
    age: 18 + below(random, 70),
    weight_kg: 50 + below(random, 500) / 10,
    sex: pick(random, ['M', 'F']),
  };
  const text = JSON.stringify({ current_session: session, ...history });
  // Only the exact path reads an escaped name.
  return random() < 0.2 ? text.replace('"age"', '"\\u0061ge"') : text;
}

/** What is wrong with a 200; undefined if it is the answer to this request. */
export function wrongAnswer(reply: Reply, id: string, known: KnownAnswer): string | undefined {
  const given = requestIdOf(reply);
  if (given !== id) return `the answer of ${given} came to ${id}`;
  return isSame(scoresOf(reply.body), known.scores) ? undefined : `other scores: ${reply.body}`;
}

export function requestIdOf({ head }: Reply): string {
  return /\r\nx-request-id: *([^\r]*)/i.exec(head)?.[1] ?? '';
}

function scoresOf(body: string): Scores {
  const answer = JSON.parse(body) as Record<string, unknown>;
  return SCORE_FIELDS.map((name) => Number(answer[name]));
}

function isSame(one: Scores, other: Scores): boolean {
  return one.every((score, index) => Math.abs(score - (other[index] ?? NaN)) <= SAME_MAX);
}

function isApart(one: Scores, other: Scores): boolean {
  return one.some((score, index) => Math.abs(score - (other[index] ?? NaN)) >= APART_MIN);
}
