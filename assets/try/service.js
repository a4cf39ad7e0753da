/** Asks the service, the newest question only, and no faster than it wants to be asked (src/admin/tryDesk.ts). */

/** Four a second is the most that is answered. */
const PAUSE_MS = 270;
const RETRY_MS = 2000;

/** Where callers ask, and whether a key is needed. */
export async function tellService() {
  const response = await fetch('try/service', { cache: 'no-store' });
  return response.json();
}

/**
 * `ask(request)` resolves with the answer, or with undefined where a newer question came first or it was refused.
 * `onProblem` gets a sentence, '' when all is well again, and the outcome: its status, and `retryMs` where it is asked again.
 */
export function asker({ keyOf, onProblem }) {
  let waiting;
  let isBusy = false;
  let lastMs = -Infinity;

  async function work() {
    if (isBusy) return;
    isBusy = true;
    while (waiting !== undefined) {
      await sleep(lastMs + PAUSE_MS - performance.now());
      const { request, resolve } = waiting;
      const outcome = await send(request, keyOf());
      // From the answer on: requests that waited on their way would arrive closer together than they were sent.
      lastMs = performance.now();
      onProblem(outcome.problem ?? '', outcome);
      const isNewest = waiting.request === request;
      if (outcome.retryMs !== undefined && isNewest) {
        await sleep(outcome.retryMs);
      } else if (isNewest || outcome.answer !== undefined) {
        if (isNewest) waiting = undefined;
        resolve(outcome.answer);
      }
    }
    isBusy = false;
  }

  return function ask(request) {
    waiting?.resolve(undefined);
    return new Promise((resolve) => {
      waiting = { request, resolve };
      void work();
    });
  };
}

async function send(request, key) {
  let response;
  try {
    response = await fetch('try/score', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(key === '' ? {} : { 'X-API-Key': key }) },
      body: JSON.stringify(request),
    });
    const body = await response.json();
    if (response.ok) return { answer: body, status: 200 };
    const retryMs = Number(response.headers.get('Retry-After') ?? 0) * 1000 || RETRY_MS;
    return { ...refusal(response.status, body, retryMs), status: response.status };
  } catch {
    return { problem: 'The service does not answer. Trying again …', retryMs: RETRY_MS, status: 0 };
  }
}

/** The sentence for a refusal; with `retryMs` the page asks again. */
function refusal(status, { detail }, retryMs) {
  switch (status) {
    case 401:
      return { problem: 'Enter an API key: each request of this page needs one.' };
    case 403:
      return { problem: `The service refuses this key: ${detail}.` };
    case 429:
      return { problem: 'This page, or this key, has sent too many requests. Waiting …', retryMs };
    case 503:
      return { problem: 'The service is busy, and its callers come first. Waiting …', retryMs };
    case 422:
      return { problem: `The service refuses this night: ${detail.map(wordsOf).join('; ')}.` };
    default:
      return { problem: `The service answers ${status}: ${detail}.` };
  }
}

/** Within a recording the place matters. */
function wordsOf({ loc, msg }) {
  const place = loc.slice(loc.indexOf('recording') + 1).join('.');
  return loc.includes('recording') && place !== '' ? `${place}: ${msg}` : msg;
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
