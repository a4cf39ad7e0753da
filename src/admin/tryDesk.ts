/** The admin listener's half of the page `/try`: who may ask, and what. `serve/tryDesk.ts` has it scored. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { JSON_TYPE, mediaTypeOf } from '../contract/mediaTypes.js';
import { problemAnswer } from '../contract/problems.js';
import { answer } from './jsonAnswer.js';

/** Where the page sends its requests; no other path of the admin listener takes a body. */
export const TRY_PATH = '/try/score';
/** A day of heart rate from most providers; a session of averages with a history needs little of it. */
export const TRY_BODY_BYTES_MAX = 1_048_576;

export interface TryQuestion {
  readonly body: Uint8Array;
  /** '' if none was sent; undefined where only this machine reaches the listener: then none is needed. */
  readonly key: string | undefined;
}

export interface TryAnswer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly retryAfterS?: number;
}

/** Scores a body as `POST /predict` would. */
export type TryScore = (question: TryQuestion) => Promise<TryAnswer>;

const ORIGIN_NOT_ALLOWED = { detail: 'Origin not allowed; this page answers its own requests only' };

/**
 * Answers the page `/try`, which asks for scores of a night put together by hand. It keeps and logs nothing
 * of it. Each refusal is one line here, the cheapest first.
 */
export async function answerTry(
  request: IncomingMessage,
  response: ServerResponse,
  { isKeyless, score }: { readonly isKeyless: boolean; readonly score: TryScore },
): Promise<void> {
  const { headers } = request;
  if (!isOwnOrigin(headers)) return answer(response, 403, ORIGIN_NOT_ALLOWED);
  if (!isJson(headers['content-type'])) return refuse(response, 'contentType');
  const body = await bodyOf(request);
  // The rest of it is not waited for.
  if (body === undefined) return refuse(response.setHeader('Connection', 'close'), 'bodyTooLarge');
  const key = isKeyless ? undefined : String(headers['x-api-key'] ?? '');
  const told = await score({ body, key });
  if (told.retryAfterS !== undefined) response.setHeader('Retry-After', String(told.retryAfterS));
  answer(response, told.status, told.body);
}

/** Undefined if it is too long. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > TRY_BODY_BYTES_MAX) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/**
 * Whether the request comes from a page of this listener. Other pages in the same browser can send here too,
 * though they can't read the answer. Browsers name the requesting page in `Origin`, and no script can change
 * that.
 */
function isOwnOrigin({ origin, host }: IncomingMessage['headers']): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  const { protocol, origin: asked } = new URL(origin);
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  return URL.canParse(`${protocol}//${host}`) && new URL(`${protocol}//${host}`).origin === asked;
}

/**
 * Forms can't send this type, so another page's request would need a permission first, which nothing here
 * gives.
 */
function isJson(contentType = ''): boolean {
  return mediaTypeOf(contentType) === JSON_TYPE;
}

function refuse(response: ServerResponse, name: 'contentType' | 'bodyTooLarge'): void {
  const { status, body } = problemAnswer(name);
  answer(response, status, body);
}
