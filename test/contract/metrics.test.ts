import t from 'tap';
import { METRICS, PROCESS_METRICS, REFUSAL_CAUSES, STATUSES, statusOf } from '#acuity/contract/metrics.js';
import { PROBLEMS } from '#acuity/contract/problems.js';
import { FIELDS_OF_A_SESSION, SERIES_FIELDS } from '#rules/fields.js';
import { SessionFrameSchema } from '#acuity/contract/request.js';

const ALL = [...Object.values(METRICS), ...Object.values(PROCESS_METRICS)];

t.test("each metric has one name, in Prometheus's form and units", async (t) => {
  t.equal(new Set(ALL.map(({ name }) => name)).size, ALL.length);
  for (const { name, type, help } of ALL) {
    t.match(name, /^(acuity|process)_[a-z_]+$/);
    t.equal(name.endsWith('_total'), type === 'counter', name);
    t.notMatch(name, /_(ms|milliseconds|kb|mb)(_|$)/, 'base units');
    t.ok(help.length > 10, name);
  }
});

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
  t.strictSame([...names].sort(), [
    'cause',
    'field',
    'graph',
    'key',
    'kind',
    'label',
    'outcome',
    'provider',
    'score',
    'stage',
    'status',
    'type',
  ]);
  t.strictSame(METRICS.requests.labels.key, ['none', 'demo', 'live']);
});

t.test('each field of a session is watched', async (t) => {
  t.strictSame(
    [...FIELDS_OF_A_SESSION].sort(),
    [...SERIES_FIELDS, ...Object.keys(SessionFrameSchema.properties)].sort(),
  );
});
