import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import t from 'tap';
import { dashboard, WITHOUT_PROMTOOL as skip, promtool } from '../fixtures/promtool.js';
import { REPOSITORY, textOf } from '../fixtures/repository.js';

/** What Prometheus makes of deploy/: that its names are those of metrics is the matter of contract/metricsShown. */

const ALERTS = join(REPOSITORY, 'deploy/helm/files/alerts.yml');

t.test('its expressions, and that by which the fleet grows, are valid', { skip }, async (t) => {
  const [grows] = parseYaml(textOf('deploy/helm/files/adapter-rules.yaml')) as readonly {
    metricsQuery: string;
  }[];
  const use = grows?.metricsQuery
    .replaceAll('<<.GroupBy>>', 'pod')
    .replaceAll('<<.LabelMatchers>>', 'pod="a"');
  const expressions = dashboard().expressions.map((expr) => expr.replaceAll('$__rate_interval', '1m'));
  const rules = [...expressions, use].map(
    (expr, index) => `  - record: panel:${index}\n    expr: ${JSON.stringify(expr)}`,
  );
  const folder = t.testdir({ 'panels.yml': `groups:\n- name: panels\n  rules:\n${rules.join('\n')}\n` });
  const { ok, says } = promtool(['check', 'rules', join(folder, 'panels.yml')]);
  t.ok(ok, says);
});

t.test('each alert fires when it is provoked, not at once, and no other', { skip }, async (t) => {
  const alerts = textOf('deploy/helm/files/alerts.yml').matchAll(/- alert: (\w+)/g);
  const names = [...alerts].map(([, name]) => name);
  t.strictSame(Object.keys(PROVOKED).toSorted(), names.toSorted(), 'each alert');
  const tests = Object.entries(PROVOKED).map(([alert, [at, ...series]]) =>
    [
      `  - interval: ${at.endsWith('h') ? '1h' : '1m'}`,
      '    input_series:',
      ...[...(alert === 'AcuityAbsent' ? [] : [SCRAPED]), ...series].map(seriesOf),
      '    promql_expr_test:',
      `      - expr: count by (alertname) (ALERTS{alertstate="firing"})`,
      '        eval_time: 1m',
      '        exp_samples: []',
      `      - expr: count by (alertname) (ALERTS{alertstate="firing"})`,
      `        eval_time: ${at}`,
      `        exp_samples: [{ labels: '{alertname="${alert}"}', value: 1 }]`,
    ].join('\n'),
  );
  const text = [`rule_files: ['${ALERTS}']`, 'evaluation_interval: 1m', 'tests:', ...tests, ''].join('\n');
  const { ok, says } = promtool(['test', 'rules', join(t.testdir({ 'each.yml': text }), 'each.yml')]);
  t.ok(ok, says);
});

/** In promtool's notation; a series without an instance is that of replica `a`. */
function seriesOf(told: string): string {
  const [, name = '', labels = '', values = ''] = /^(\w+)(?:\{(.*)\})? (.*)$/.exec(told) ?? [];
  const instance = labels.includes('instance=') ? [] : ['instance="a"'];
  const all = [...instance, ...(labels === '' ? [] : [labels])].join(',');
  return `      - series: '${name}{${all}}'\n        values: '${values}'`;
}

const SERVED = 'acuity_requests_total{status="200",key="live"} 0+6000x60';

/** A replica that stays, so that the job has a target. */
const SCRAPED = 'up{job="acuity",instance="b"} 1x300';

/** When it has fired, and by which series: a value a minute, or, with a time in hours, an hour. */
const PROVOKED: Readonly<Record<string, readonly [at: string, ...series: string[]]>> = {
  AcuityDown: ['8m', 'up{job="acuity"} 1x5 0x20'],
  AcuityAbsent: ['8m', 'up{job="pods"} 1x30'],
  AcuityNotReady: ['9m', 'acuity_ready 1x5 0x20'],
  AcuityFailing: ['20m', SERVED, 'acuity_requests_total{status="500",key="live"} 0+60x60'],
  AcuitySheddingLoad: ['20m', SERVED, 'acuity_refusals_total{cause="deadline"} 0+600x60'],
  AcuitySlow: [
    '20m',
    'acuity_stage_seconds_bucket{stage="total",le="0.4"} 0+10x60',
    'acuity_stage_seconds_bucket{stage="total",le="0.8"} 0+1000x60',
    'acuity_stage_seconds_bucket{stage="total",le="+Inf"} 0+1000x60',
    'acuity_deadline_seconds 1x60',
  ],
  AcuityEventLoopBusy: [
    '30m',
    'acuity_event_loop_busy_seconds_total{loop="0"} 0+58x60',
    'acuity_event_loop_busy_seconds_total{loop="1"} 0+30x60',
  ],
  AcuityWorkersBusy: ['30m', 'acuity_worker_busy_seconds_total 0+116x60', 'acuity_workers 2x60'],
  AcuityWorkerLost: ['10m', 'acuity_worker_restarts_total 0x5 1x30'],
  AcuityBatchesFail: ['10m', 'acuity_batch_faults_total 0x5 3x30'],
  AcuityRestarting: ['20m', 'process_start_time_seconds{job="acuity"} 100x5 400x5 700x5 1000x20'],
  AcuityKeysRefused: ['40m', SERVED, 'acuity_refusals_total{cause="keyInvalid"} 0+1200x60'],
  AcuityBodiesRefused: ['40m', SERVED, 'acuity_refusals_total{cause="unprocessable"} 0+1200x60'],
  AcuityFieldsMissing: [
    '230h',
    'acuity_sessions_sampled_total 0+1000x240',
    'acuity_fields_missing_total{field="RR_night"} 0x200 500+500x40',
    'acuity_fields_missing_total{field="age"} 0+100x240',
  ],
  AcuityKeyStoreGone: ['10m', 'acuity_limits_local 0x5 1x20'],
  AcuityRevocationLost: ['8m', 'acuity_key_revocations_lost 0x5 1x20'],
  AcuityModelsDiffer: [
    '40m',
    'acuity_model_info{version="m/1"} 1x60',
    'acuity_model_info{instance="b",version="m/2"} 1x60',
  ],
  AcuityModelRefused: ['8m', 'acuity_model_refused 0x5 1x20'],
};
