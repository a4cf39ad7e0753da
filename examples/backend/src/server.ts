import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { readFileSync } from 'node:fs';
import {
  AcuityError,
  HistoryInvalidError,
  InvalidRequestError,
  type AcuityClient,
  type History,
} from 'acuity-client';
import { STYLE } from './document.js';
import {
  keepQuestions,
  keepReactions,
  pageAfter,
  pageOfQuestions,
  type ReactionResult,
} from './measuring.js';
import { pageOfPeople, pageOfPerson } from './page.js';
import {
  MEASUREMENTS_MAX,
  personOf,
  receivedAt,
  scoreEvent,
  sentenceOf,
  type TerraEvent,
} from './scoring.js';
import type { Store } from './store.js';
import { USUAL_NIGHTS } from './weeks.js';

export interface BackendOptions {
  readonly store: Store;
  readonly history: History;
  readonly client: AcuityClient;
  /** If given, webhooks without Terra's signature are refused. */
  readonly secret?: string | undefined;
  /** For times without a zone. */
  readonly zone?: string | undefined;
  /** The texts of the Perceived Stress Scale. */
  readonly questions: readonly string[] | undefined;
  /** The delay that the screens and keyboards of the devices add to each reaction, in milliseconds. */
  readonly reactionDelayMs: number;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** Replaces the policy of the other pages. */
  readonly policy?: string;
}

const BODY_MAX_BYTES = 8 * 1024 * 1024;
const NIGHTS_MAX = 28;
const UNSCORED_MAX = 10;
/** Events saying that no more nights will come: the service says so. */
const OF_CONNECTION = ['connection_error', 'access_revoked', 'deauth'];
const SIGNATURE_AGE_MAX_S = 300;
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/** The reaction test has a script, which sends its result. */
const TEST_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:";
const page = (name: string): string => readFileSync(new URL(`../pages/${name}`, import.meta.url), 'utf8');
const HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

/**
 * The webhook and the pages. Pages show health data: put your own login in front, and listen on the loopback
 * interface.
 */
export function backend(options: BackendOptions): Server {
  return createServer((request, response) => {
    answer(options, request)
      .catch((error: unknown) => {
        console.error(error);
        return json(500, { error: 'internal' });
      })
      .then(({ status, type, body, policy = POLICY }) => {
        response.writeHead(status, { ...HEADERS, 'Content-Security-Policy': policy, 'Content-Type': type });
        response.end(body);
      })
      .catch(() => response.destroy());
  });
}

async function answer(options: BackendOptions, request: IncomingMessage): Promise<Answer> {
  const path = new URL(request.url ?? '/', 'http://backend').pathname;
  if (request.method === 'POST' && path === '/webhooks/terra') return webhook(options, request);
  const [, person, what] = /^\/people\/([^/]+)(?:\/(questions|reaction))?$/.exec(path) ?? [];
  if (request.method === 'POST' && what !== undefined) return result(options, request, nameOf(person), what);
  if (request.method !== 'GET') return json(405, { error: 'method not allowed' });
  if (path === '/') return html(pageOfPeople(await options.store.people()));
  if (path === '/style.css') return { status: 200, type: 'text/css; charset=utf-8', body: STYLE };
  if (path === '/reaction.js')
    return { status: 200, type: 'text/javascript; charset=utf-8', body: page('reaction.js') };
  if (person === undefined) return json(404, { error: 'not found' });
  const name = nameOf(person);
  if (what === 'questions') return html(pageOfQuestions(name, options.questions));
  if (what === 'reaction') return { ...html(page('reaction.html')), policy: TEST_POLICY };
  const { store } = options;
  const nights = await store.nights(name, NIGHTS_MAX + USUAL_NIGHTS);
  const unscored = await store.unscored(name, UNSCORED_MAX);
  return html(
    pageOfPerson(name, {
      nights: nights.slice(-NIGHTS_MAX),
      before: nights.slice(0, -NIGHTS_MAX),
      unscored,
      taken: await store.measured(name, MEASUREMENTS_MAX),
    }),
  );
}

function nameOf(person = ''): string {
  return decodeURIComponent(person);
}

/** A person's answers or test result; accepted only from a page of this server. */
async function result(
  { store, client, reactionDelayMs }: BackendOptions,
  request: IncomingMessage,
  person: string,
  what: string,
): Promise<Answer> {
  if (request.headers['sec-fetch-site'] === 'cross-site') return json(403, { error: 'of another site' });
  const body = (await bodyOf(request)) ?? '';
  const isForm = what === 'questions';
  try {
    if (isForm) {
      const { told } = await keepQuestions({ store, client }, person, new URLSearchParams(body));
      return html(pageAfter(person, 'Thank you', told));
    }
    const sent = JSON.parse(body) as ReactionResult;
    return json(200, await keepReactions({ store, client }, person, sent, reactionDelayMs));
  } catch (error) {
    if (error instanceof SyntaxError) return json(400, { error: 'no JSON' });
    if (!(error instanceof RangeError)) throw error;
    // No result, or no norm for that age: nothing is stored, and the person gets the reason.
    return isForm
      ? { ...html(pageAfter(person, 'Nothing was kept', `${error.message}.`)), status: 422 }
      : json(422, { why: `Nothing was kept: ${error.message}.` });
  }
}

/** A provider sends again everything without a 2xx: answer so only where a later try can succeed. */
async function webhook(options: BackendOptions, request: IncomingMessage): Promise<Answer> {
  const body = await bodyOf(request);
  if (body === undefined) return json(413, { error: 'too large' });
  const { secret } = options;
  if (secret !== undefined && !isSigned(body, request.headers['terra-signature'], secret))
    return json(401, { error: 'signature' });
  let event: TerraEvent;
  try {
    event = JSON.parse(body) as TerraEvent;
  } catch {
    return json(400, { error: 'no JSON' });
  }
  if (event?.type !== 'sleep' && !OF_CONNECTION.includes(event?.type ?? ''))
    return json(200, { scored: false, why: 'not a sleep' });
  const person = personOf(event);
  if (person === undefined) return json(200, { scored: false, why: 'user: is missing' });
  try {
    await scoreEvent(event, person, options);
    return json(200, { scored: true, person });
  } catch (error) {
    // An invalid event stays invalid and is for a person to look at; the message names the field, not the value.
    if (error instanceof InvalidRequestError && !(error instanceof HistoryInvalidError)) {
      const why = error.findings.map(sentenceOf).join('; ');
      await options.store.leave(person, { at: receivedAt(event), why });
      return json(200, { scored: false, why });
    }
    if (error instanceof AcuityError) return json(503, { error: error.name });
    throw error;
  }
}

/**
 * A body that is too large is read to its end without storing it, so that the sender sees the response; Node bounds
 * the time.
 */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes <= BODY_MAX_BYTES) pieces.push(piece);
  }
  return bytes > BODY_MAX_BYTES ? undefined : Buffer.concat(pieces).toString('utf8');
}

/** `t=<seconds>,v1=<HMAC-SHA-256 of "<seconds>.<body>", hex>`. */
function isSigned(body: string, header: string | string[] | undefined, secret: string): boolean {
  const found = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(typeof header === 'string' ? header : '');
  if (found === null) return false;
  if (Math.abs(Date.now() / 1000 - Number(found[1])) > SIGNATURE_AGE_MAX_S) return false;
  const wanted = createHmac('sha256', secret).update(`${found[1]}.${body}`).digest();
  return timingSafeEqual(wanted, Buffer.from(found[2] ?? '', 'hex'));
}

function html(body: string): Answer {
  return { status: 200, type: 'text/html; charset=utf-8', body };
}

function json(status: number, value: object): Answer {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` };
}
