import t from 'tap';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { NORMS } from '#acuity/contract/norms.js';
import { createReader, isBodyProblem } from '#acuity/read/read.js';
import { CONSTANTS } from '../fixtures/measured.js';
import { casesOf } from '../fixtures/sharedCases.js';

interface NormCase {
  readonly name: string;
  readonly who: object;
  readonly measurement: object;
  readonly expect: {
    readonly value?: number;
    readonly at?: string;
    readonly type?: string;
    readonly has?: string;
  };
}

const NIGHT = '2026-11-21';
const read = createReader(DEFAULT_SERIES_LIMITS);
const outcomeOf = (who: object, measurements: readonly object[], reader = read) =>
  reader(
    Buffer.from(JSON.stringify({ current_session: who, history: '', night: NIGHT, measurements })),
    CONSTANTS,
  );

function testsOf(outcome: ReturnType<typeof outcomeOf>) {
  if (isBodyProblem(outcome)) throw new Error(JSON.stringify(outcome));
  return outcome.history?.tests;
}

t.test('raw results of tests become percentiles', async (t) => {
  for (const { name, who, measurement, expect } of casesOf<NormCase>('computed', 'norms')) {
    const outcome = outcomeOf(who, [measurement]);
    if (expect.value !== undefined) {
      t.match(testsOf(outcome), [{ value: expect.value, on: NIGHT }], name);
      continue;
    }
    const { at = '', type, has = '' } = expect;
    const findings = 'findings' in outcome ? outcome.findings : [];
    const told = findings.map((found) => [found.loc.join('.'), found.type]);
    t.strictSame(told, [[`body.${at}`, type]], name);
    t.ok(findings[0]?.msg.includes(has), `${name}: ${findings[0]?.msg} has ${has}`);
  }
});

t.test('a raw result counts as its percentile does', async (t) => {
  const who = { age: 34, sex: 'F' };
  const raw = { test: 'pss10', result: 17, on: '2026-11-19' };
  const [tested] = testsOf(outcomeOf(who, [raw])) ?? [];
  t.match(tested, { test: 'pss10', score: 'stress', on: raw.on });
  const { score, value, on } = tested ?? {};
  const row = { scores: Float32Array.of(50, 50, 50, 50, 50, 0.5, 0.5), offset: 0 };
  const texts = [raw, { score, value, on }].map((one) => {
    const outcome = outcomeOf(who, [one]);
    if (isBodyProblem(outcome)) throw new Error(JSON.stringify(outcome));
    return outcome.history?.text(row, { valence: 0.5, arousal: 0.5 });
  });
  t.equal(texts[0], texts[1]);
  t.strictSame(testsOf(outcomeOf(who, [{ score, value, on }])), [], 'a percentile is not told back');
});

t.test('an unknown age is asked for once, and the finding of each entry has its place', async (t) => {
  const outcome = outcomeOf({}, [
    { test: 'pss10', result: 17 },
    { test: 'x', result: 1 },
    { test: 'digit_symbol', result: 40, on: '2026-11-22' },
  ]);
  const findings = 'findings' in outcome ? outcome.findings : [];
  t.strictSame(
    findings.map(({ loc, type }) => [loc.slice(1).join('.'), type]),
    [
      ['current_session.age', 'missing'],
      ['measurements.1.test', 'literal_error'],
      ['measurements.2.on', 'value_error'],
    ],
  );
});

t.test('norms of the operator’s own are of the same rights', async (t) => {
  const [first] = NORMS.values();
  if (first === undefined) throw new Error('no norms');
  const norm = { ...first, score: 'memory' as const, isWhole: false };
  const own = createReader({ ...DEFAULT_SERIES_LIMITS, norms: new Map([...NORMS, ['recall.nl', norm]]) });
  const ask = (measurement: object) => outcomeOf({ age: 20 }, [measurement], own);
  t.match(testsOf(ask({ test: 'recall.nl', result: 8.5 })), [{ test: 'recall.nl', score: 'memory' }]);
  t.match(ask({ test: 'toString', result: 8.5 }), {
    findings: [{ msg: /'vigilance_speed' or 'recall.nl'/ }],
  });
});
