import t from 'tap';
import { PROCESS_METRICS } from '#acuity/admin/processMetrics.js';
import { METRICS, REFUSAL_CAUSES, STATUSES, statusOf } from '#acuity/contract/metrics.js';
import {
  FINDINGS_MAX,
  PROBLEMS,
  malformedBody,
  problemAnswer,
  unprocessableBody,
  type Finding,
} from '#acuity/contract/problems.js';

const ALL = [...Object.values(METRICS), ...Object.values(PROCESS_METRICS)];

t.test('every problem of the catalogue has a cause with its status', async (t) => {
  const split = { overloaded: 'queueFull', rateLimited: 'rateDaily' } as const;
  const causes: readonly string[] = REFUSAL_CAUSES;
  for (const [problem, { status }] of Object.entries(PROBLEMS)) {
    // The same causes, under the status that the operator has chosen.
    if (problem === 'overloadedAs429') continue;
    const cause = problem in split ? split[problem as keyof typeof split] : problem;
    t.ok(causes.includes(cause), problem);
    t.equal(statusOf(cause as (typeof REFUSAL_CAUSES)[number]), status);
  }
  t.strictSame(STATUSES, [200, 400, 401, 403, 404, 405, 413, 415, 422, 429, 500, 503]);
});

t.test('no label can hold a key, an id or a score', async (t) => {
  const names = new Set(ALL.flatMap((spec) => ('labels' in spec ? Object.keys(spec.labels) : [])));
  const known = 'cause field graph key kind label outcome provider score stage status type';
  t.strictSame([...names].sort(), known.split(' '));
  t.strictSame(METRICS.requests.labels.key, ['none', 'demo', 'live']);
});

t.test('a refusal names at most so many findings, in the form of the contract', async (t) => {
  t.strictSame(problemAnswer('notFound'), { status: 404, body: '{"detail":"Not Found"}' });
  t.equal(malformedBody(17), '{"detail":"Malformed JSON at byte 17"}');
  const finding: Finding = { loc: ['body', 'past_sessions', 2], msg: 'x', type: 'missing' };
  const one = '{"loc":["body","past_sessions",2],"msg":"x","type":"missing"}';
  t.equal(unprocessableBody([finding]), `{"detail":[${one}]}`);
  const many = Array.from({ length: 20 }, () => finding);
  t.equal((JSON.parse(unprocessableBody(many)) as { detail: unknown[] }).detail.length, FINDINGS_MAX);
});
