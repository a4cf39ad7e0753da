import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Clock } from '../base/clock.js';
import { PROBLEMS } from '../contract/problems.js';

/** Where the page `/try` sends its requests; no other path of the admin listener takes a body. */
export const TRY_PATH = '/try/score';
/** A day of heart rate from most providers; a session of averages with a history needs little of it. */
export const TRY_BODY_BYTES_MAX = 1_048_576;

export interface TryOptions {
  /** Whether the page exists. */
  readonly isOn: boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Where callers send requests; undefined before the service listens there. */
  publicAddress(): { readonly host: string | null; readonly port: number | null } | undefined;
  /** The payer of a key ('' if none was sent). */
  payerOf(key: string): TryPayer | 'missing' | 'invalid';
  /** Scores a body as `POST /predict` would. */
  score(body: Uint8Array): Promise<TryAnswer>;
}

export interface TryPayer {
  /** Charges one explained request. @returns the seconds to wait if the key's limits refuse it */
  charge(): number | undefined;
  /** Returns the request to the day's quota, because it was not scored. */
  refund(): void;
}

export interface TryAnswer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/** Enough for a person who moves a slider, and too little to load the service. */
const REQUESTS_MAX = 4;
const PERIOD_MS = 1000;

export const TRY_IS_OFF = { detail: 'Not Found; see ACUITY_TRY' };
const ORIGIN_NOT_ALLOWED = { detail: 'Origin not allowed; this page answers its own requests only' };

/**
 * Answers the page `/try`, which asks for scores of a night put together by hand. It keeps and logs nothing
 * of it.
 */
export class TryDesk {
  /** Whether only this machine can reach the listener; otherwise a key is required. */
  isKeyless = false;
  /** When the last requests came, the oldest first. */
  private readonly cameMs: number[] = [];

  constructor(private readonly options: TryOptions) {}

  /** Sends what the page needs to know: where callers send requests, and whether it needs a key. */
  tellService(response: ServerResponse): void {
    if (!this.options.isOn) return answer(response, 404, TRY_IS_OFF);
    answer(response, 200, { address: this.options.publicAddress() ?? null, needsKey: !this.isKeyless });
  }

  /** Each refusal is one line here, the cheapest first. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { isOn, clock, payerOf, score } = this.options;
    const { headers } = request;
    if (!isOn) return answer(response, 404, TRY_IS_OFF);
    if (!isOwnOrigin(headers)) return answer(response, 403, ORIGIN_NOT_ALLOWED);
    if (!isJson(headers['content-type'])) return refuse(response, 'contentType');
    const payer = this.isKeyless ? undefined : payerOf(String(headers['x-api-key'] ?? ''));
    if (payer === 'missing') return refuse(response, 'keyMissing');
    if (payer === 'invalid') return refuse(response, 'keyInvalid');
    if (!this.takeTurn(clock.monotonicMs())) return refuse(response, 'rateLimited', 1);
    const waitS = payer?.charge();
    if (waitS !== undefined) return refuse(response, 'rateLimited', waitS);
    // The thread that holds the port has checked the length.
    const { status, body } = await score(new Uint8Array(await buffer(request)));
    if (status !== 200) payer?.refund();
    write(response, status, body);
  }

  /** At most `REQUESTS_MAX` in any second, from all callers together. */
  private takeTurn(nowMs: number): boolean {
    const { cameMs } = this;
    while (cameMs[0] !== undefined && nowMs - cameMs[0] >= PERIOD_MS) cameMs.shift();
    if (cameMs.length >= REQUESTS_MAX) return false;
    cameMs.push(nowMs);
    return true;
  }
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
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

function refuse(
  response: ServerResponse,
  name: 'contentType' | 'keyMissing' | 'keyInvalid' | 'rateLimited',
  retryAfterS?: number,
): void {
  const { status, detail } = PROBLEMS[name];
  if (retryAfterS !== undefined) response.setHeader('Retry-After', String(retryAfterS));
  answer(response, status, { detail });
}

/** Sends an answer of the admin listener in JSON. */
export function answer(response: ServerResponse, status: number, body: object): void {
  write(response, status, JSON.stringify(body));
}

function write(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(body);
}
