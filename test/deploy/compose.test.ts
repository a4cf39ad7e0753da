import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import t from 'tap';
import { VARIABLES } from '#acuity/config/variables.js';
import { send } from '../fixtures/connection.js';
import { startProxy, WITHOUT_HAPROXY } from '../fixtures/proxies.js';
import { dashboard, WITHOUT_PROMTOOL } from '../fixtures/promtool.js';
import { REPOSITORY, textOf } from '../fixtures/repository.js';
import { RIGHTS } from '../fixtures/redis.js';
import { ended, lacking } from '../fixtures/scripts.js';
import { freePort, startServer } from '../fixtures/server.js';

const WITHOUT_AMTOOL = lacking('amtool --version', 'prometheus-alertmanager');
const DEPLOY = join(REPOSITORY, 'deploy');

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

const { services, volumes } = parseYaml(textOf('deploy/compose.yml')) as Compose;

t.test('every file that compose mounts exists, except the certificate', async (t) => {
  const mounted = Object.values(services).flatMap((service) => service.volumes ?? []);
  t.ok(mounted.length > 8);
  for (const mount of mounted) {
    const [from = ''] = mount.split(':');
    if (from === './certificate.pem') continue;
    t.ok(from in volumes || existsSync(join(DEPLOY, from)), mount);
  }
});

t.test('two replicas share a store, under names that the other parts know', async (t) => {
  const known: readonly string[] = Object.values(VARIABLES).map(({ env }) => env);
  for (const name of ['acuity-1', 'acuity-2']) {
    const { environment = {}, read_only: isReadOnly } = services[name] ?? {};
    for (const variable of Object.keys(environment)) t.ok(known.includes(variable), variable);
    t.match(environment['ACUITY_KEYS'], /^redis:\/\/acuity:.*@store:6379\/0$/);
    t.match(environment['ACUITY_ADMIN_HOSTS'], name, 'Prometheus asks it by that name');
    t.equal(isReadOnly, true);
    t.match(textOf('deploy/prometheus.yml'), `'${name}:9464'`);
    t.match(textOf('deploy/haproxy-replicas.cfg'), `server ${name} ${name}:8080 check port 9464`);
  }
});

t.test('the store’s user has the rights that the documents name', async (t) => {
  t.equal(services['store']?.environment?.['STORE_RIGHTS'], RIGHTS);
});

t.test('the parts know each other by the names of their services', async (t) => {
  const { scrape_configs: jobs, alerting } = parseYaml(textOf('deploy/prometheus.yml')) as {
    scrape_configs: readonly { static_configs: readonly { targets: readonly string[] }[] }[];
    alerting: { alertmanagers: readonly { static_configs: readonly { targets: readonly string[] }[] }[] };
  };
  const targets = [...jobs, ...alerting.alertmanagers].flatMap(({ static_configs: lists }) =>
    lists.flatMap((list) => list.targets),
  );
  t.ok(targets.length >= 4);
  for (const target of targets) t.ok((target.split(':')[0] ?? '') in services, target);
  t.equal(services['balancer']?.environment?.['METRICS_BIND'], ':8405');
  t.ok(targets.includes('balancer:8405'));
});

for (const [program, skip, ...args] of [
  ['amtool', WITHOUT_AMTOOL, 'check-config', 'alertmanager.yml'],
  ['promtool', WITHOUT_PROMTOOL, 'check', 'config', 'prometheus.yml'],
] as const)
  t.test(`${program} takes its configuration`, { skip }, async (t) => {
    t.match(await ended(program, args, { cwd: DEPLOY }), { code: 0 });
  });

t.test('HAProxy sends requests to the running replica', { skip: WITHOUT_HAPROXY }, async (t) => {
  const server = await startServer(t);
  const gone = { port: await freePort(), adminPort: await freePort() };
  const proxy = await startProxy(t, [gone, server]);
  const sent = { headers: { 'X-API-Key': server.key }, body: '{"current_session":{}}' };
  for (let at = 0; at < 6; at++) t.equal((await send(proxy.port, sent)).status, 200);
  const told = await (await fetch(`http://127.0.0.1:${proxy.metricsPort}/metrics`)).text();
  const shown = dashboard().expressions.flatMap((expr) => [
    ...expr.matchAll(/(haproxy_\w+)\{proxy="(\w+)"/g),
  ]);
  t.ok(shown.length > 2);
  for (const [, name, backend] of shown)
    t.match(told, new RegExp(`^${name}\\{[^}]*proxy="${backend}"`, 'm'), 'the board shows what there is');
});
