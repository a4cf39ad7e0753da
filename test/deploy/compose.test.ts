import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import t from 'tap';
import { VARIABLES } from '#acuity/config/variables.js';
import { lacks, startReplicasProxy, WITHOUT_HAPROXY } from '../fixtures/proxies.js';
import { WITHOUT_PROMTOOL, promtool } from '../fixtures/promtool.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { freePort, startServer } from '../fixtures/server.js';

const WITHOUT_AMTOOL = lacks('amtool', '--version')
  ? 'amtool is not installed (Debian: apt-get install prometheus-alertmanager)'
  : false;

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly depends_on?: unknown;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, object>>;
}

const { services, volumes } = parseYaml(read('deploy/compose.yml')) as Compose;

t.test('every file that compose mounts exists, except the certificate', async (t) => {
  const mounted = Object.values(services).flatMap((service) => service.volumes ?? []);
  t.ok(mounted.length > 8);
  for (const mount of mounted) {
    const [from = ''] = mount.split(':');
    if (from === './certificate.pem') continue;
    t.ok(from in volumes || existsSync(join(REPOSITORY, 'deploy', from)), mount);
  }
});

t.test('two replicas share a store, under names that the other parts know', async (t) => {
  const known: readonly string[] = Object.values(VARIABLES).map(({ env }) => env);
  for (const name of ['acuity-1', 'acuity-2']) {
    const { environment = {}, read_only: isReadOnly } = services[name] ?? {};
    t.strictSame(
      Object.keys(environment).filter((variable) => !known.includes(variable)),
      [],
    );
    t.match(environment['ACUITY_KEYS'], /^redis:\/\/acuity:.*@store:6379\/0$/);
    t.match(environment['ACUITY_ADMIN_HOSTS'], name, 'Prometheus asks it by that name');
    t.equal(isReadOnly, true);
    t.match(read('deploy/prometheus.yml'), `'${name}:9464'`);
    t.match(read('deploy/haproxy-replicas.cfg'), `server ${name} ${name}:8080 check port 9464`);
  }
});

t.test('the parts know each other by the names of their services', async (t) => {
  const { scrape_configs: jobs, alerting } = parseYaml(read('deploy/prometheus.yml')) as {
    scrape_configs: readonly { static_configs: readonly { targets: readonly string[] }[] }[];
    alerting: { alertmanagers: readonly { static_configs: readonly { targets: readonly string[] }[] }[] };
  };
  const targets = [...jobs, ...alerting.alertmanagers].flatMap(({ static_configs: lists }) =>
    lists.flatMap((list) => list.targets),
  );
  t.ok(targets.length >= 4);
  for (const target of targets) t.ok((target.split(':')[0] ?? '') in services, target);
  t.match(read('deploy/haproxy-metrics.cfg'), 'bind :8405');
  t.ok(targets.includes('balancer:8405'));
});

t.test('Alertmanager takes its configuration', { skip: WITHOUT_AMTOOL }, async (t) => {
  const file = join(REPOSITORY, 'deploy/alertmanager.yml');
  const { status, stderr } = spawnSync('amtool', ['check-config', file], { encoding: 'utf8' });
  t.equal(status, 0, stderr);
});

t.test('promtool takes the configuration of Prometheus', { skip: WITHOUT_PROMTOOL }, async (t) => {
  const { ok, says } = promtool(['check', 'config', join(REPOSITORY, 'deploy/prometheus.yml')]);
  t.ok(ok, says);
});

t.test('promtool takes the expression by which the fleet grows', { skip: WITHOUT_PROMTOOL }, async (t) => {
  const [rule] = parseYaml(read('deploy/helm/files/adapter-rules.yaml')) as readonly {
    metricsQuery: string;
  }[];
  const expr = rule?.metricsQuery
    .replaceAll('<<.GroupBy>>', 'pod')
    .replaceAll('<<.LabelMatchers>>', 'pod="a"');
  const file = join(t.testdir(), 'rules.yml');
  writeFileSync(file, `groups: [{ name: use, rules: [{ record: use, expr: ${JSON.stringify(expr)} }] }]\n`);
  const { ok, says } = promtool(['check', 'rules', file]);
  t.ok(ok, says);
});

t.test('HAProxy sends requests to the running replica', { skip: WITHOUT_HAPROXY }, async (t) => {
  const server = await startServer(t);
  const gone = { port: await freePort(), adminPort: await freePort() };
  const proxy = await startReplicasProxy(t, [gone, server]);
  const headers = { 'X-API-Key': server.key, 'Content-Type': 'application/json' };
  for (let at = 0; at < 6; at++) {
    const init = { method: 'POST', headers, body: '{"current_session":{}}' };
    const response = await fetch(`http://127.0.0.1:${proxy.port}/predict`, init);
    t.equal(response.status, 200);
    await response.arrayBuffer();
  }
  const told = await (await fetch(`http://127.0.0.1:${proxy.metricsPort}/metrics`)).text();
  const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as {
    panels: readonly { targets: readonly { expr: string }[] }[];
  };
  const shown = panels
    .flatMap(({ targets }) => targets.map(({ expr }) => expr))
    .flatMap((expr) => [...expr.matchAll(/(haproxy_\w+)\{proxy="(\w+)"/g)]);
  t.ok(shown.length > 2);
  for (const [, name, backend] of shown)
    t.match(told, new RegExp(`^${name}\\{[^}]*proxy="${backend}"`, 'm'), 'the board shows what there is');
});
