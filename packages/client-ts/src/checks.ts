import type { PredictionRequestBody } from './contract.js';

/** @throws Error unless this is a server's process: every reader of a web page can read the key in it */
export function refuseBrowser(place: object = globalThis): void {
  const { document, window, importScripts } = place as Record<string, unknown>;
  if (document === undefined && window === undefined && importScripts === undefined) return;
  throw new Error(
    'the API key belongs on a server: call the scoring service from your backend, never from a browser or an app',
  );
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * The URL of the endpoint below the given address.
 * @throws TypeError if it is none, or in clear over a network
 */
export function readAddress(url: string, allowPlainHttp: boolean): string {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol)) {
    throw new TypeError('the address must be an http or https URL');
  }
  if (base.username !== '' || base.search !== '' || base.hash !== '') {
    throw new TypeError('the address must have no user, query or fragment');
  }
  if (base.protocol === 'http:' && !LOOPBACK.test(base.hostname) && !allowPlainHttp) {
    throw new TypeError(
      'http to another machine carries the key and biometrics in clear: use https, or allowPlainHttp',
    );
  }
  const prefix = base.pathname.replace(/\/+$/, '');
  if (prefix.endsWith('/predict')) throw new TypeError('give the base address, without /predict');
  return `${base.origin}${prefix}/predict`;
}

const KEY_FORM = /^sk_(demo|live)_[0-9A-Za-z]{38}$/;

/** @throws TypeError unless it is a whole key */
export function readKey(key: string): string {
  const trimmed = key.trim();
  if (!KEY_FORM.test(trimmed)) {
    throw new TypeError('the key must be whole: sk_demo_ or sk_live_ and 38 letters and digits');
  }
  return trimmed;
}

/** One day: it may already be tomorrow somewhere. */
const AHEAD_MAX_MS = 86_400_000;

/**
 * Refuses a night that would become the newest of a history and keep all later ones out: only a clock tells, and
 * the service reads none.
 * @throws RangeError if it is more than a day ahead of this machine's clock
 */
export function refuseAhead({ history, night }: PredictionRequestBody): void {
  if (typeof history !== 'string' || typeof night !== 'string') return;
  if (!(Date.parse(night) - Date.now() > AHEAD_MAX_MS)) return;
  throw new RangeError(
    "the night lies ahead of this machine's clock: give the date of waking, or set the clock",
  );
}
