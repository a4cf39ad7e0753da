import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Differences } from '#acuity/admin/differences.js';
import { modelLabel } from '#acuity/model/manifest.js';
import { metricsOf } from '../fixtures/atRest.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, head, send, sendOn } from '../fixtures/connection.js';
import { copyModel, manifestOf, MODEL, replaceFile, turnLink } from '../fixtures/model.js';
import { valueOf, type Series } from '../fixtures/promtool.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

const REQUESTS = 240;
const WAIT_MS = 60_000;
/** Runs the command line. */
async function acuity(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await ended(
    process.execPath,
    [join(REPOSITORY, 'dist/main.js'), ...args],
    {
      cwd: REPOSITORY,
      env: cleanEnvironment(),
    },
  );
  if (code !== 0) throw new Error(`acuity ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** The shipped network with other scores: what its graphs multiply shares by is scaled, and nothing else. */
async function rival(folder: string, name: string, scale: number): Promise<string> {
  const out = join(folder, name);
  const graph = (variant: string): string => {
    const path = join(folder, `${name}-${variant}.onnx`);
    writeFileSync(path, scaledGraph(join(MODEL, `${variant}.onnx`), scale));
    return path;
  };
  const named = ['--name', name, '--version', '1.0.0', '--out', out];
  await acuity('model', 'bundle', '--base', graph('base'), '--history', graph('history'), ...named);
  return out;
}

/** The weights of scores (100) and of attention in C_SCORE (40), each as four bytes, times `scale`. */
function scaledGraph(path: string, scale: number): Buffer {
  const graph = readFileSync(path);
  for (const weight of [100, 40]) {
    const from = Buffer.alloc(4);
    from.writeFloatLE(weight);
    for (let at = graph.indexOf(from); at >= 0; at = graph.indexOf(from, at + 4))
      graph.writeFloatLE(scale * weight, at);
  }
  return graph;
}

async function untilMetrics(
  server: RunningServer,
  holds: (series: Series[]) => boolean | Promise<boolean>,
): Promise<Series[]> {
  const endsMs = Date.now() + WAIT_MS;
  for (;;) {
    const series = await metricsOf(server.adminPort);
    if (await holds(series)) return series;
    if (Date.now() > endsMs) throw new Error(`it never came true: ${server.output()}`);
    await pause(100);
  }
}

/** What the dashboard is told first, as far as it is about the shadow model. */
async function shadowOf({ adminPort }: RunningServer): Promise<Differences | undefined> {
  const connection = await Connection.open(adminPort);
  await connection.write(head({ method: 'GET', target: '/events' }));
  await connection.receives('\n\n');
  const [, text = '{}'] = /^data: (.*)$/m.exec(connection.rest) ?? [];
  connection.destroy();
  return (JSON.parse(text) as { shadow?: Differences }).shadow;
}

const isInForce =
  (version: string) =>
  (series: Series[]): boolean =>
    valueOf(series, 'acuity_shadow_model_info', { version }) === 1;

t.test('a shadow model beside the one that answers', async (t) => {
  const folder = t.testdir({ bad: {} });
  const half = await rival(folder, 'half', 0.5);
  const bad = copyModel(join(folder, 'bad'));
  replaceFile(bad, manifestOf(bad).graphs.base.file, 'no graph');
  const link = join(folder, 'shadow');
  const server = await startServer(t, {
    env: {
      ACUITY_SHADOW_MODEL: link,
      ACUITY_SHADOW_SHARE: '1',
      ACUITY_HTTP_THREADS: '2',
      ACUITY_WORKERS: '2',
    },
  });
  const plain = Array.from({ length: REQUESTS }, (_, index) => requestBody(index % 3, index + 1));
  // Networks are compared: what was measured moves the answer, and no difference.
  const measured = { history: '', night: '2026-01-11', measurements: [{ score: 'attention', value: 99 }] };
  const bodies = plain.map((body, index) => JSON.stringify({ ...body, ...(index % 6 === 0 && measured) }));

  await t.test('without a folder there is none, and nothing is compared', async (t) => {
    const { status } = await send(server.port, {
      headers: { 'X-API-Key': server.key },
      body: bodies[0] ?? '',
    });
    t.equal(status, 200);
    const series = await metricsOf(server.adminPort);
    t.equal(valueOf(series, 'acuity_shadow_model_info'), 0);
    t.equal(valueOf(series, 'acuity_shadow_compared_total'), 0);
  });

  await t.test('it counts how far its scores lie from those that were answered', async (t) => {
    symlinkSync(half, link);
    await untilMetrics(server, isInForce('half/1.0.0'));
    for (const body of bodies) {
      const { status } = await send(server.port, { headers: { 'X-API-Key': server.key }, body });
      if (status !== 200) t.fail(`a request failed with ${status}`);
    }
    const series = await untilMetrics(
      server,
      (series) => valueOf(series, 'acuity_shadow_compared_total') === REQUESTS,
    );
    t.equal(valueOf(series, 'acuity_shadow_dropped_total'), 0);
    t.equal(valueOf(series, 'acuity_shadow_run_seconds_count'), REQUESTS);
    const shadow = await shadowOf(server);
    differs(t, shadow);
    t.notMatch(server.output(), /C_SCORE|valence/, 'no score in the log');
  });

  await t.test('a model that can’t serve is refused, and the one before stays', async (t) => {
    turnLink(link, bad);
    const series = await untilMetrics(
      server,
      (series) => valueOf(series, 'acuity_shadow_model_refused') === 1,
    );
    t.ok(isInForce('half/1.0.0')(series));
    t.match(server.output(), 'shadow model refused');
  });

  await t.test('changed and removed: no request fails', async (t) => {
    turnLink(link, MODEL);
    await untilMetrics(server, isInForce(modelLabel(manifestOf(MODEL))));
    rmSync(link);
    const connection = await Connection.open(server.port);
    t.teardown(() => connection.destroy());
    let status = 0;
    const series = await untilMetrics(server, async (series) => {
      ({ status } = await sendOn(connection, {
        headers: { 'X-API-Key': server.key },
        body: bodies[4] ?? '',
      }));
      return status !== 200 || valueOf(series, 'acuity_shadow_model_info') === 0;
    });
    t.equal(status, 200);
    for (const name of [
      'acuity_shadow_errors_total',
      'acuity_shadow_model_refused',
      'acuity_worker_restarts_total',
    ])
      t.equal(valueOf(series, name), 0, name);
  });

  server.signal('SIGTERM');
  t.strictSame(await server.exited, { code: 0, signal: null });
});

/** What the dashboard shows of a network whose scores are half of those that were answered. */
function differs(t: Test, shadow: Differences | undefined): void {
  t.equal(shadow?.scores.length, 5);
  for (const { score, mean, meanSigned, p50, p99 } of shadow?.scores ?? []) {
    t.ok(mean > 5 && mean < 35, `${score}: ${mean}`);
    t.equal(meanSigned, -mean, `${score}: every score is lower`);
    t.ok(p50 > 5 && p50 <= p99, `${score}: quantiles`);
  }
}
