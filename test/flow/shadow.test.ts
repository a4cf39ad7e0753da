import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Differences } from '#acuity/admin/differences.js';
import { modelLabel } from '#acuity/model/manifest.js';
import { metricsOf, startEvent, valueOf, type Series } from '../fixtures/promtool.js';
import { requestBody } from '../fixtures/bodies.js';
import { copyModel, manifestOf, MODEL, replaceFile, turnLink } from '../fixtures/model.js';
import { acuity } from '../fixtures/scripts.js';
import { CLEAN, startServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';
import { until } from '../fixtures/until.js';

const REQUESTS = 240;

/** The shipped network with other scores: what its graphs multiply shares by is halved, and nothing else. */
async function half(folder: string): Promise<string> {
  const out = join(folder, 'half');
  const graphs = ['base', 'history'].flatMap((variant) => {
    const path = join(folder, `${variant}.onnx`);
    writeFileSync(path, halvedGraph(join(MODEL, `${variant}.onnx`)));
    return [`--${variant}`, path];
  });
  const bundle = ['model', 'bundle', ...graphs, '--name', 'half', '--version', '1.0.0', '--out', out];
  const { code, stderr } = await acuity(bundle);
  if (code !== 0) throw new Error(stderr);
  return out;
}

/** The weights of scores (100) and of attention in C_SCORE (40), each as four bytes, halved. */
function halvedGraph(path: string): Buffer {
  const graph = readFileSync(path);
  for (const weight of [100, 40]) {
    const from = Buffer.alloc(4);
    from.writeFloatLE(weight);
    for (let at = graph.indexOf(from); at >= 0; at = graph.indexOf(from, at + 4))
      graph.writeFloatLE(weight / 2, at);
  }
  return graph;
}

const isInForce =
  (version: string) =>
  (series: Series[]): boolean =>
    valueOf(series, 'acuity_shadow_model_info', { version }) === 1;

t.test('a shadow model beside the one that answers', async (t) => {
  const folder = t.testdir({ bad: {} });
  const link = join(folder, 'shadow');
  const bad = copyModel(join(folder, 'bad'));
  replaceFile(bad, manifestOf(bad).graphs.base.file, 'no graph');
  const rival = await half(folder);
  const env = { ...loopsOf(2), ACUITY_SHADOW_MODEL: link, ACUITY_SHADOW_SHARE: '1' };
  const server = await startServer(t, { env });
  // Networks are compared: what was measured moves the answer, and no difference.
  const measured = { history: '', night: '2026-01-11', measurements: [{ score: 'attention', value: 99 }] };
  const score = async (index = 0): Promise<void> => {
    const body = JSON.stringify({ ...requestBody(index % 3, index + 1), ...(index % 6 === 0 && measured) });
    const { status } = await server.predict(body);
    if (status !== 200) t.fail(`a request failed with ${status}`);
  };

  /** Looks, and scores meanwhile where `isUnderLoad`. */
  async function untilMetrics(holds: (series: Series[]) => boolean, isUnderLoad = false): Promise<Series[]> {
    let series: Series[] = [];
    const look = async (): Promise<boolean> => {
      if (isUnderLoad) await score();
      return holds((series = await metricsOf(server.adminPort)));
    };
    await until(look, isUnderLoad ? 1 : 100);
    return series;
  }

  await score();
  for (const name of ['acuity_shadow_model_info', 'acuity_shadow_compared_total'])
    t.equal(await server.metric(name), 0, `without a folder: ${name}`);

  await t.test('it counts how far its scores lie from those that were answered', async (t) => {
    symlinkSync(rival, link);
    await untilMetrics(isInForce('half/1.0.0'));
    for (let index = 0; index < REQUESTS; index++) await score(index);
    const areCompared = (series: Series[]) => valueOf(series, 'acuity_shadow_compared_total') === REQUESTS;
    const series = await untilMetrics(areCompared);
    t.equal(valueOf(series, 'acuity_shadow_dropped_total'), 0);
    t.equal(valueOf(series, 'acuity_shadow_run_seconds_count'), REQUESTS);
    const { shadow } = await startEvent<{ readonly shadow: Differences }>(server.adminPort);
    t.equal(shadow.scores.length, 5);
    for (const { score, mean, meanSigned, p50, p99 } of shadow.scores) {
      t.ok(mean > 5 && mean < 35, `${score}: ${mean}`);
      t.equal(meanSigned, -mean, `${score}: every score is lower`);
      t.ok(p50 > 5 && p50 <= p99, `${score}: quantiles`);
    }
    t.notMatch(server.output(), /C_SCORE|valence/, 'no score in the log');
  });

  await t.test('refused, changed and removed: no request fails', async (t) => {
    turnLink(link, bad);
    const isRefused = (series: Series[]) => valueOf(series, 'acuity_shadow_model_refused') === 1;
    const refused = await untilMetrics(isRefused, true);
    t.ok(isInForce('half/1.0.0')(refused), 'the one before stays');
    await until(() => server.output().includes('shadow model refused')); // the log follows its metric
    turnLink(link, MODEL);
    await untilMetrics(isInForce(modelLabel(manifestOf(MODEL))), true);
    rmSync(link);
    const series = await untilMetrics((series) => valueOf(series, 'acuity_shadow_model_info') === 0, true);
    for (const name of ['errors_total', 'model_refused'].map((name) => `acuity_shadow_${name}`))
      t.equal(valueOf(series, name), 0, name);
    t.equal(valueOf(series, 'acuity_worker_restarts_total'), 0);
  });

  t.strictSame(await server.stop(), CLEAN);
});
