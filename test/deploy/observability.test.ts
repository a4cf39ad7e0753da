import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { MetricSpec } from '#acuity/base/metrics.js';
import { METRICS, PROCESS_METRICS, REFUSAL_CAUSES, statusOf } from '#acuity/contract/metrics.js';
import { SYMPTOMS } from '#acuity/admin/symptoms.js';
import { WITHOUT_PROMTOOL, promtool } from '../fixtures/promtool.js';
import { REPOSITORY, script } from '../fixtures/scripts.js';

const SPECS: readonly MetricSpec[] = [...Object.values(METRICS), ...Object.values(PROCESS_METRICS)];
const ALERTS = join(REPOSITORY, 'deploy/alerts.yml');
const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');

/** Every name under which a metric is exported. */
const EXPORTED = new Map(
  SPECS.flatMap((spec) =>
    (spec.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).map(
      (suffix) => [spec.name + suffix, spec] as const,
    ),
  ),
);

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  }[];
}

/** The names of metrics in an expression; each must be exported, and its label values must exist. */
function metricsIn(t: Test, expression: string): string[] {
  const names = expression.match(/\b(acuity|process)_[a-z_]+\b(?!")/g) ?? [];
  for (const name of names) t.ok(EXPORTED.has(name), `${name} in ${expression}`);
  for (const [, name = '', matchers = ''] of expression.matchAll(
    /\b((?:acuity|process)_[a-z_]+)\{([^}]*)\}/g,
  )) {
    const labels = EXPORTED.get(name)?.labels ?? {};
    for (const [, label = '', value = ''] of matchers.matchAll(/(\w+)[!=~]+"([^"]*)"/g)) {
      if (label === 'instance' || label === 'job') continue;
      for (const one of value.split('|')) t.ok(labels[label]?.includes(one), `${name}{${label}="${one}"}`);
    }
  }
  return names.map((name) => EXPORTED.get(name)?.name ?? name);
}

t.test('the Grafana dashboard shows every metric and no other', async (t) => {
  const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as Dashboard;
  const used = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(t, expr)));
  t.strictSame([...new Set(used)].sort(), SPECS.map(({ name }) => name).sort());
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  t.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24));
});

t.test('its expressions are ones that Prometheus takes', { skip: WITHOUT_PROMTOOL }, async (t) => {
  const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as Dashboard;
  const expressions = panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '1m')),
  );
  const rules = expressions.map(
    (expr, index) => `  - record: panel:${index}\n    expr: ${JSON.stringify(expr)}`,
  );
  const folder = t.testdir({ 'panels.yml': `groups:\n- name: panels\n  rules:\n${rules.join('\n')}\n` });
  const { ok, says } = promtool(['check', 'rules', join(folder, 'panels.yml')]);
  t.ok(ok, says);
});

t.test('alert rules use metrics that exist, say why, and name a symptom of the documents', async (t) => {
  const rules = read('deploy/alerts.yml')
    .split(/^ {6}- alert: /m)
    .slice(1);
  t.ok(rules.length > 10);
  for (const rule of rules) {
    const [name = ''] = rule.split('\n', 1);
    metricsIn(t, /expr:([^]*?)\n {8}(?:for|labels):/.exec(rule)?.[1] ?? '');
    t.match(rule, /severity: (page|ticket)/, name);
    t.match(rule, /reason: .{30,}/, name);
    const symptom = /symptom: (\w+)/.exec(rule)?.[1];
    t.ok(
      SYMPTOMS.some(({ id }) => id === symptom),
      `${name}: ${symptom}`,
    );
  }
});

t.test('promtool takes the alert rules', { skip: WITHOUT_PROMTOOL }, async (t) => {
  const { ok, says } = promtool(['check', 'rules', ALERTS]);
  t.ok(ok, says);
});

t.test('alerts fire when they should and not before', { skip: WITHOUT_PROMTOOL }, async (t) => {
  const folder = t.testdir({ 'firing.yml': firing() });
  const { ok, says } = promtool(['test', 'rules', join(folder, 'firing.yml')]);
  t.ok(ok, says);
});

/** Promtool's own form of a rule test: series by the minute, and which alerts stand at which moment. */
function firing(): string {
  const series = [
    // a tenth of the requests shed from minute 10 on
    ['acuity_refusals_total{instance="a",cause="queueFull"}', '0x10 600+600x40'],
    ['acuity_requests_total{instance="a",status="200",key="live"}', '0+6000x50'],
    ['acuity_event_loop_busy_seconds_total{instance="a",loop="0"}', '0+30x50'],
    ['acuity_event_loop_busy_seconds_total{instance="a",loop="1"}', '0+58x50'],
    ['acuity_ready{instance="a"}', '1x20 0x30'],
  ];
  const input = series.map(([name, values]) => `      - series: '${name}'\n        values: '${values}'`);
  const firing = (at: string, ...alerts: readonly string[]): string =>
    [
      `      - expr: sum by (alertname) (ALERTS{alertstate="firing"})`,
      `        eval_time: ${at}`,
      `        exp_samples:${alerts.length === 0 ? ' []' : ''}`,
      ...alerts.map((alert) => `          - { labels: '{alertname="${alert}"}', value: 1 }`),
    ].join('\n');
  const expected = [
    firing('14m'),
    firing('19m', 'AcuitySheddingLoad'),
    // one of the two event loops, and no longer ready
    firing('30m', 'AcuitySheddingLoad', 'AcuityEventLoopBusy', 'AcuityNotReady'),
  ];
  return [
    `rule_files: ['${ALERTS}']`,
    'evaluation_interval: 1m',
    'tests:',
    '  - interval: 1m',
    '    input_series:',
    ...input,
    '    promql_expr_test:',
    ...expected,
    '',
  ].join('\n');
}

/** scripts/operations.js */
interface Tables {
  metricsTable(metrics: { catalogues: readonly Readonly<Record<string, MetricSpec>>[] }): string;
  symptomsTable(symptoms: typeof SYMPTOMS): string;
  causesTable(causes: typeof REFUSAL_CAUSES, status: typeof statusOf): string;
}

t.test('the tables of the operations page are those of the code', async (t) => {
  const tables = await script<Tables>('operations.js');
  const document = read('docs/OPERATIONS.md');
  t.ok(
    document.includes(tables.metricsTable({ catalogues: [METRICS, PROCESS_METRICS] })),
    'metrics: npm run docs',
  );
  t.ok(document.includes(tables.symptomsTable(SYMPTOMS)), 'symptoms: npm run docs');
  t.ok(document.includes(tables.causesTable(REFUSAL_CAUSES, statusOf)), 'causes: npm run docs');
});
