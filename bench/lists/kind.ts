import { NDJSON_TYPE } from '#acuity/contract/mediaTypes.js';
import type { Load } from '#acuity/load/measurement.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { differenceOf, questionsOf, wrongAnswers, type Question } from '#bench/comparison/answers.js';
import { textsOf, type BenchPayload } from '#bench/comparison/payload.js';
import { MODEL_FOLDER } from '#bench/paths.js';
import type { RunningPeer } from '#bench/server/service.js';

const CONNECTIONS_OF_SINGLES = 64;
/** Lines under way at once: lists of few lines have more connections. */
const LINES_UNDER_WAY = 512;
/** The default of the service. */
export const BODY_BYTES_MAX = 4_194_304;
const CHECK = { connections: 4, rounds: 1 };

/** What is sent to whom: requests of their own, or lists of so many lines. */
export interface Kind {
  readonly name: string;
  readonly peer: RunningPeer;
  readonly lines: number;
  readonly load: Omit<Load, 'seconds'>;
}

/** The requests of a payload with the expected answers. */
export async function askedOf(payload: BenchPayload): Promise<readonly Question[]> {
  return questionsOf(await loadBundle(MODEL_FOLDER), textsOf(payload));
}

/** @throws Error where an answer is wrong or missing */
export async function singlesOf(
  peer: RunningPeer,
  name: string,
  questions: readonly Question[],
): Promise<Kind> {
  const { target } = peer;
  const wrong = await wrongAnswers(target, questions, CHECK);
  if (wrong.length > 0) throw new Error(`${peer.name}: ${wrong.join('; ')}`);
  const bodies = questions.map(({ body }) => body);
  return { name, peer, lines: 1, load: { target, bodies, connections: CONNECTIONS_OF_SINGLES } };
}

/**
 * Lists of the service, of `lines` each, and a sentence for each that is longer than a body may be.
 * @throws Error where an answer is wrong or missing
 */
export async function listsOf(
  peer: RunningPeer,
  questions: readonly Question[],
  lines: readonly number[],
): Promise<{ readonly kinds: readonly Kind[]; readonly leftOut: readonly string[] }> {
  const kinds: Kind[] = [];
  const leftOut: string[] = [];
  for (const count of lines) {
    const asked = Array.from({ length: count }, (_, line) => questionAt(questions, line));
    const body = asked.map((question) => `${question.body}\n`).join('');
    const bytes = Buffer.byteLength(body);
    if (bytes > BODY_BYTES_MAX) {
      leftOut.push(`Lists of ${count} are left out: ${bytes} bytes, more than a body may have.`);
      continue;
    }
    const connections = Math.max(2, Math.ceil(LINES_UNDER_WAY / count));
    const load = { target: peer.target, bodies: [body], connections, mediaType: NDJSON_TYPE };
    await checkList(load, asked);
    kinds.push({ name: `lists of ${count}`, peer, lines: count, load });
  }
  return { kinds, leftOut };
}

function questionAt(questions: readonly Question[], line: number): Question {
  const question = questions[line % questions.length];
  if (question === undefined) throw new RangeError('a payload without bodies');
  return question;
}

/** @throws Error where a line has not the scores that the request has alone */
async function checkList({ target, bodies }: Kind['load'], asked: readonly Question[]): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${target.port}/predict`, {
    method: 'POST',
    headers: { 'X-API-Key': target.key, 'Content-Type': NDJSON_TYPE },
    body: bodies.join(''),
  });
  const text = await answer.text();
  const answers = text.trimEnd().split('\n');
  if (answer.status !== 200 || answers.length !== asked.length)
    throw new Error(`a list of ${asked.length}: status ${answer.status}, ${answers.length} lines`);
  for (const [line, { expected }] of asked.entries()) {
    const body = answers[line] ?? '';
    const difference = differenceOf({ status: statusIn(body), body }, expected);
    if (difference !== undefined) throw new Error(`line ${line} of ${asked.length}: ${difference}`);
  }
}

/** A line without a status was scored. */
function statusIn(line: string): number {
  return (JSON.parse(line) as { readonly status?: number }).status ?? 200;
}

/** Requests and lines that a server has refused so far; 0 for one without metrics. */
export async function refusals({ server: { adminPort } }: RunningPeer): Promise<number> {
  if (adminPort === undefined) return 0;
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  let sum = 0;
  for (const [, value] of text.matchAll(/^acuity_refusals_total\{[^}]*\} (\S+)$/gm)) sum += Number(value);
  return sum;
}
