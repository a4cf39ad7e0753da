import t from 'tap';
import { MetricReader } from '#acuity/base/metrics.js';
import { METRICS, allocateLoopMetrics, loopRecorders } from '#acuity/contract/metrics.js';
import { defaultConfig } from '#acuity/config/options.js';
import { metricsText } from '#acuity/admin/metricsExport.js';
import { PROCESS_METRICS } from '#acuity/admin/processMetrics.js';
import { READY } from '../fixtures/adminScene.js';
import { parseMetrics, promtool, valueOf, WITHOUT_PROMTOOL } from '../fixtures/promtool.js';

const PROCESS = {
  version: '1.0.0',
  config: defaultConfig(),
  state: { ...READY, model: '1"\\\n' },
  rssBytes: 1,
};

function scene() {
  const memories = [allocateLoopMetrics(), allocateLoopMetrics()];
  const [first, second] = memories.map(loopRecorders);
  if (first === undefined || second === undefined) throw new Error('two loops');
  return { first, second, text: () => metricsText(new MetricReader(METRICS, memories), PROCESS) };
}

t.test('every metric of the catalogue is exported with its help and type', async (t) => {
  const text = scene().text();
  for (const { name, help, type } of [...Object.values(METRICS), ...Object.values(PROCESS_METRICS)])
    t.ok(text.includes(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name}`), name);
  t.ok(text.includes(String.raw`acuity_model_info{version="1\"\\\n"} 1` + '\n'), 'labels are escaped');
});

t.test('milliseconds become seconds; loops are summed, or distinguished by a label', async (t) => {
  const { first, second, text } = scene();
  first.loopBusy.set(0, 1500);
  second.loopBusy.set(0, 500);
  first.workerBusy.add(0, 250);
  second.workerBusy.add(0, 500);
  const series = parseMetrics(text());
  t.equal(valueOf(series, METRICS.loopBusy.name, { loop: '0' }), 1.5);
  t.equal(valueOf(series, METRICS.loopBusy.name, { loop: '1' }), 0.5);
  t.equal(valueOf(series, METRICS.workerBusy.name), 0.75);
});

t.test('a histogram counts up to each bound and agrees with its count', async (t) => {
  const { first, second, text } = scene();
  const batches = [first.batchRows, second.batchRows];
  for (const rows of [1, 2, 3, 32]) batches[0]?.observe(1, rows);
  batches[1]?.observe(1, 2000);
  const series = parseMetrics(text());
  const upTo = (le: string): number => valueOf(series, 'acuity_batch_rows_bucket', { graph: 'history', le });
  t.strictSame(['1', '2', '4', '16', '32', '1024', '+Inf'].map(upTo), [1, 2, 3, 3, 4, 4, 5]);
  t.equal(valueOf(series, 'acuity_batch_rows_count', { graph: 'history' }), 5);
  t.equal(valueOf(series, 'acuity_batch_rows_sum', { graph: 'history' }), 2038);
  t.equal(valueOf(series, 'acuity_batch_rows_count', { graph: 'base' }), 0);
});

t.test('promtool finds no fault', { skip: WITHOUT_PROMTOOL }, async (t) => {
  const { ok, says } = promtool(['check', 'metrics'], scene().text());
  t.ok(ok, says);
  t.equal(says, '');
});
