import t from 'tap';
import {
  FINDINGS_MAX,
  PROBLEMS,
  malformedBody,
  problemBody,
  unprocessableBody,
  type Finding,
} from '#acuity/contract/problems.js';

/** Statuses and texts are what callers match on: a change here is a change of the contract. */
const expected = {
  notFound: [404, 'Not Found'],
  methodNotAllowed: [405, 'Method Not Allowed'],
  keyMissing: [401, 'Invalid or missing API key'],
  keyInvalid: [403, 'Invalid or missing API key'],
  rateLimited: [429, 'Rate limit exceeded'],
  transferEncoding: [400, 'Transfer-Encoding must be chunked'],
  contentType: [415, 'Content-Type must be application/json'],
  contentEncoding: [415, 'Content-Encoding is not supported'],
  bodyTooLarge: [413, 'Request body too large'],
  overloaded: [503, 'Service overloaded'],
  overloadedAs429: [429, 'Service overloaded'],
  internal: [500, 'Internal Server Error'],
} as const;

t.test('the catalogue is closed', async (t) => {
  const actual = Object.entries(PROBLEMS).map(([name, { status, detail }]) => [name, [status, detail]]);
  t.strictSame(Object.fromEntries(actual), expected);
});

t.test('the bodies', async (t) => {
  t.equal(problemBody(PROBLEMS.notFound), '{"detail":"Not Found"}');
  t.equal(malformedBody(17), '{"detail":"Malformed JSON at byte 17"}');
  const finding: Finding = { loc: ['body', 'past_sessions', 2], msg: 'x', type: 'missing' };
  t.equal(
    unprocessableBody([finding]),
    '{"detail":[{"loc":["body","past_sessions",2],"msg":"x","type":"missing"}]}',
  );
  const many = Array.from({ length: 20 }, () => finding);
  t.equal((JSON.parse(unprocessableBody(many)) as { detail: unknown[] }).detail.length, FINDINGS_MAX);
});
