import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { MetricSpec } from '#acuity/base/metrics.js';
import { METRICS, PROCESS_METRICS } from '#acuity/contract/metrics.js';
import { SYMPTOMS } from '#acuity/admin/symptoms.js';
import { WITHOUT_PROMTOOL, promtool } from '../fixtures/promtool.js';
import { REPOSITORY } from '../fixtures/repository.js';

const SPECS: readonly MetricSpec[] = [...Object.values(METRICS), ...Object.values(PROCESS_METRICS)];
const ALERTS = join(REPOSITORY, 'deploy/helm/files/alerts.yml');
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
  const rules = read('deploy/helm/files/alerts.yml')
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

t.test('every alert has a section of the runbook, and every section an alert', async (t) => {
  const alerts = read('deploy/helm/files/alerts.yml');
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const urls = [...alerts.matchAll(/runbook_url: (\S+)/g)].map(([, url]) => url);
  const runbook = read('docs/RUNBOOK.md');
  const sections = runbook.split(/^## /m).slice(1);
  t.strictSame(
    sections.map((section) => section.split('\n', 1)[0]),
    names,
    'in their order',
  );
  t.strictSame(
    urls,
    names.map((name) => `docs/RUNBOOK.md#${name.toLowerCase()}`),
  );
  for (const section of sections) {
    // In a pattern a name may go on in brackets.
    for (const name of section.match(/\b(acuity|process)_[a-z_]+/g) ?? [])
      t.ok(
        [...EXPORTED.keys()].some((known) => known.startsWith(name)),
        name,
      );
  }
  t.strictSame(Object.keys(PROVOKED).toSorted(), names.toSorted(), 'each is provoked below');
});

t.test(
  'each alert fires when it is provoked, not at once, and no other does',
  { skip: WITHOUT_PROMTOOL },
  async (t) => {
    const tests = Object.entries(PROVOKED).map(([alert, { series, at, every = '1m', beside = [] }]) =>
      [
        `  - interval: ${every}`,
        '    input_series:',
        ...[...(alert === 'AcuityAbsent' ? [] : [SCRAPED]), ...series].map(
          ([name, values]) => `      - series: '${name}'\n        values: '${values}'`,
        ),
        '    promql_expr_test:',
        `      - expr: count by (alertname) (ALERTS{alertstate="firing"})`,
        '        eval_time: 1m',
        '        exp_samples: []',
        `      - expr: count by (alertname) (ALERTS{alertstate="firing"})`,
        `        eval_time: ${at}`,
        '        exp_samples:',
        ...[alert, ...beside].map((name) => `          - { labels: '{alertname="${name}"}', value: 1 }`),
      ].join('\n'),
    );
    const text = [`rule_files: ['${ALERTS}']`, 'evaluation_interval: 1m', 'tests:', ...tests, ''].join('\n');
    const folder = t.testdir({ 'each.yml': text });
    const { ok, says } = promtool(['test', 'rules', join(folder, 'each.yml')]);
    t.ok(ok, says);
  },
);

interface Provocation {
  /** Series in promtool's notation, a value every so often. */
  readonly series: readonly (readonly [name: string, values: string])[];
  readonly at: string;
  readonly every?: string;
  /** Alerts that stand at the same moment by right. */
  readonly beside?: readonly string[];
}

const SERVED = ['acuity_requests_total{instance="a",status="200",key="live"}', '0+6000x60'] as const;

/** A replica that stays, so that the job has a target. */
const SCRAPED = ['up{job="acuity",instance="b"}', '1x300'] as const;

const PROVOKED: Readonly<Record<string, Provocation>> = {
  AcuityDown: { series: [['up{job="acuity",instance="a"}', '1x5 0x20']], at: '8m' },
  AcuityAbsent: { series: [['up{job="pods",instance="a"}', '1x30']], at: '8m' },
  AcuityNotReady: { series: [['acuity_ready{instance="a"}', '1x5 0x20']], at: '9m' },
  AcuityFailing: {
    series: [SERVED, ['acuity_requests_total{instance="a",status="500",key="live"}', '0+60x60']],
    at: '20m',
  },
  AcuitySheddingLoad: {
    series: [SERVED, ['acuity_refusals_total{instance="a",cause="deadline"}', '0+600x60']],
    at: '20m',
  },
  AcuitySlow: {
    series: [
      ['acuity_stage_seconds_bucket{instance="a",stage="total",le="0.4"}', '0+10x60'],
      ['acuity_stage_seconds_bucket{instance="a",stage="total",le="0.8"}', '0+1000x60'],
      ['acuity_stage_seconds_bucket{instance="a",stage="total",le="+Inf"}', '0+1000x60'],
      ['acuity_deadline_seconds{instance="a"}', '1x60'],
    ],
    at: '20m',
  },
  AcuityEventLoopBusy: {
    series: [
      ['acuity_event_loop_busy_seconds_total{instance="a",loop="0"}', '0+58x60'],
      ['acuity_event_loop_busy_seconds_total{instance="a",loop="1"}', '0+30x60'],
    ],
    at: '30m',
  },
  AcuityWorkersBusy: {
    series: [
      ['acuity_worker_busy_seconds_total{instance="a"}', '0+116x60'],
      ['acuity_workers{instance="a"}', '2x60'],
    ],
    at: '30m',
  },
  AcuityWorkerLost: { series: [['acuity_worker_restarts_total{instance="a"}', '0x5 1x30']], at: '10m' },
  AcuityBatchesFail: { series: [['acuity_batch_faults_total{instance="a"}', '0x5 3x30']], at: '10m' },
  AcuityRestarting: {
    series: [['process_start_time_seconds{job="acuity",instance="a"}', '100x5 400x5 700x5 1000x20']],
    at: '20m',
  },
  AcuityKeysRefused: {
    series: [SERVED, ['acuity_refusals_total{instance="a",cause="keyInvalid"}', '0+1200x60']],
    at: '40m',
  },
  AcuityBodiesRefused: {
    series: [SERVED, ['acuity_refusals_total{instance="a",cause="unprocessable"}', '0+1200x60']],
    at: '40m',
  },
  AcuityFieldsMissing: {
    series: [
      ['acuity_sessions_sampled_total{instance="a"}', '0+1000x240'],
      ['acuity_fields_missing_total{instance="a",field="RR_night"}', '0x200 500+500x40'],
      ['acuity_fields_missing_total{instance="a",field="age"}', '0+100x240'],
    ],
    every: '1h',
    at: '230h',
  },
  AcuityKeyStoreGone: { series: [['acuity_limits_local{instance="a"}', '0x5 1x20']], at: '10m' },
  AcuityRevocationLost: { series: [['acuity_key_revocations_lost{instance="a"}', '0x5 1x20']], at: '8m' },
  AcuityModelsDiffer: {
    series: [
      ['acuity_model_info{instance="a",version="m/1"}', '1x60'],
      ['acuity_model_info{instance="b",version="m/2"}', '1x60'],
    ],
    at: '40m',
  },
  AcuityModelRefused: { series: [['acuity_model_refused{instance="a"}', '0x5 1x20']], at: '8m' },
};
