import { randomBytes } from 'node:crypto';

/** Makes the ids of one event loop's requests: the caller's own if it is well formed, otherwise a new one. */
export function requestIds(prefix: string = randomBytes(6).toString('hex')): (given: string) => string {
  let count = 0;
  return (given) => (given !== '' && ACCEPTED_ID.test(given) ? given : `${prefix}-${(count++).toString(36)}`);
}

const ACCEPTED_ID = /^[A-Za-z0-9._-]{1,128}$/;
