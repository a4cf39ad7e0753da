import t, { type Test } from 'tap';
import type { MetricSpec } from '#acuity/base/metrics.js';
import { METRICS } from '#acuity/contract/metrics.js';
import { PROCESS_METRICS } from '#acuity/admin/processMetrics.js';
import { SYMPTOMS } from '#acuity/admin/symptoms.js';
import { dashboard } from '../fixtures/promtool.js';
import { textOf } from '../fixtures/repository.js';

/** What Grafana's file, the alerts and their runbook make of the metrics: every one, and no other. */

const SPECS: readonly MetricSpec[] = [...Object.values(METRICS), ...Object.values(PROCESS_METRICS)];
/** Every name under which a metric is exported. */
const EXPORTED = new Map(
  SPECS.flatMap((spec) =>
    (spec.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).map(
      (suffix) => [spec.name + suffix, spec] as const,
    ),
  ),
);

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
  const { panels, expressions } = dashboard();
  const used = expressions.flatMap((expr) => metricsIn(t, expr));
  t.strictSame([...new Set(used)].sort(), SPECS.map(({ name }) => name).sort());
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  t.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24));
});

t.test('alert rules use metrics that exist, say why, and name a symptom of the documents', async (t) => {
  const rules = textOf('deploy/helm/files/alerts.yml')
    .split(/^ {6}- alert: /m)
    .slice(1);
  t.ok(rules.length > 10);
  for (const rule of rules) {
    const [name = ''] = rule.split('\n', 1);
    metricsIn(t, /expr:([^]*?)\n {8}(?:for|labels):/.exec(rule)?.[1] ?? '');
    t.match(rule, /severity: (page|ticket)/, name);
    t.match(rule, /reason: .{30,}/, name);
    const symptom = /symptom: (\w+)/.exec(rule)?.[1];
    const isKnown = SYMPTOMS.some(({ id }) => id === symptom);
    t.ok(isKnown, `${name}: ${symptom}`);
  }
});

t.test('every alert has a section of the runbook, and every section an alert', async (t) => {
  const alerts = textOf('deploy/helm/files/alerts.yml');
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const urls = [...alerts.matchAll(/runbook_url: (\S+)/g)].map(([, url]) => url);
  const runbook = textOf('docs/RUNBOOK.md');
  const sections = runbook.split(/^## /m).slice(1);
  const titles = sections.map((section) => section.split('\n', 1)[0]);
  t.strictSame(titles, names, 'in their order');
  const anchors = names.map((name) => `docs/RUNBOOK.md#${name.toLowerCase()}`);
  t.strictSame(urls, anchors);
  for (const section of sections) {
    // In a pattern a name may go on in brackets.
    for (const name of section.match(/\b(acuity|process)_[a-z_]+/g) ?? []) {
      const isExported = [...EXPORTED.keys()].some((known) => known.startsWith(name));
      t.ok(isExported, name);
    }
  }
});
