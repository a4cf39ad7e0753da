import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import t, { type Test } from 'tap';
import { VARIABLES } from '#acuity/config/variables.js';
import { REPOSITORY, textOf } from '../fixtures/repository.js';
import { lacking } from '../fixtures/scripts.js';

const CHART = join(REPOSITORY, 'deploy/helm');
const HELM = process.env['HELM'] ?? 'helm';
/** A helm that was compiled without its release's flags takes itself for an old cluster's. */
const CLUSTER = ['--kube-version', '1.31.0'];
const DECODER = join(REPOSITORY, 'test/fixtures/kubernetes');

const skip = lacking(
  `${HELM} version`,
  'helm is not there: HELM names it (go install helm.sh/helm/v3/cmd/helm@v3.19.0)',
);
const skipDecoding = skip || lacking('go version', 'golang-go');

/** Values of each kind of installation. */
const INSTALLATIONS: Readonly<Record<string, readonly string[]>> = {
  plain: ['--set', 'keyStore.url=rediss://acuity:secret@store:6380/0'],
  'with everything': [
    'keyStore.existingSecret=mine',
    'autoscaling.enabled=true',
    'keyStore.cidr=10.0.0.7/32',
    'env.ACUITY_WORKERS=2',
    'nodeSelector.disk=ssd',
    'tolerations[0].operator=Exists',
    'image.tag=1.2.3',
    'image.pullSecrets[0].name=registry',
    'podAnnotations.team=sleep',
    'priorityClassName=high',
    'topologyKeys={kubernetes.io/hostname,topology.kubernetes.io/zone}',
    'affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight=1',
    'affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey=zone',
    'privateCa.secret=ca',
    'model.volume.persistentVolumeClaim.claimName=models',
    'model.path=acuity-2',
    'env.OTEL_EXPORTER_OTLP_ENDPOINT=https://collector',
    'networkPolicy.egress[0].ports[0].port=8443',
    'monitoring.podMonitor.enabled=true',
    'monitoring.prometheusRule.enabled=true',
    'ingress.enabled=true',
    'ingress.host=scores.example',
    'ingress.tlsSecret=certificate',
    'httpRoute.enabled=true',
    'httpRoute.parents[0].name=gateway',
    'httpRoute.hostnames={scores.example}',
  ].flatMap((value) => ['--set', value]),
};

const ALWAYS: readonly string[] = [
  'apps/v1 Deployment',
  'networking.k8s.io/v1 NetworkPolicy',
  'policy/v1 PodDisruptionBudget',
  'v1 Service',
];
/** What is rendered where it is asked for. */
const OPTIONAL: readonly string[] = [
  'autoscaling/v2 HorizontalPodAutoscaler',
  'gateway.networking.k8s.io/v1 HTTPRoute',
  'monitoring.coreos.com/v1 PodMonitor',
  'monitoring.coreos.com/v1 PrometheusRule',
  'networking.k8s.io/v1 Ingress',
];

function helm(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(HELM, args, { encoding: 'utf8', env: { ...process.env, HELM_NO_PLUGINS: '1' } });
}

function rendered(t: Test, values: readonly string[]): string {
  const { status, stdout, stderr } = helm('template', 'mine', CHART, ...CLUSTER, ...values);
  t.equal(status, 0, stderr);
  return stdout;
}

interface Manifest {
  readonly kind: string;
  readonly spec: Record<string, unknown>;
}

function manifests(text: string): readonly Manifest[] {
  return text
    .split(/^---$/m)
    .map((document) => parseYaml(document) as Manifest | undefined)
    .filter((manifest) => manifest?.kind !== undefined) as readonly Manifest[];
}

for (const [name, values] of Object.entries(INSTALLATIONS)) {
  t.test(`the chart, ${name}: linted, and rendered`, { skip }, async (t) => {
    const { status, stdout } = helm('lint', '--strict', CHART, ...CLUSTER, ...values);
    t.equal(status, 0, stdout);
    const deployment = manifests(rendered(t, values)).find(({ kind }) => kind === 'Deployment');
    t.match(deployment?.spec, {
      strategy: { rollingUpdate: { maxUnavailable: 0 } },
      template: {
        spec: {
          enableServiceLinks: false,
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 30,
          securityContext: { runAsNonRoot: true },
          containers: [
            {
              readinessProbe: { httpGet: { path: '/readyz', port: 'admin' } },
              livenessProbe: { httpGet: { path: '/healthz', port: 'admin' } },
              securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
            },
          ],
        },
      },
    });
    const names = [...JSON.stringify(deployment).matchAll(/"name":"(ACUITY_\w+)"/g)].map(([, each]) => each);
    t.ok(names.length >= 4);
    const known = Object.values(VARIABLES).map(({ env }) => env as string);
    t.strictSame(
      names.filter((each) => !known.includes(each ?? '')),
      [],
      'variables that the service knows',
    );
    t.ok(JSON.stringify(deployment).includes('0.0.0.0'));
  });
}

t.test('the API server would take each object, and no mistake', { skip: skipDecoding }, async (t) => {
  const decoder = join(t.testdir(), 'decode');
  const built = spawnSync('go', ['build', '-o', decoder, '.'], { cwd: DECODER, encoding: 'utf8' });
  t.equal(built.status, 0, built.stderr);
  for (const [name, values] of Object.entries(INSTALLATIONS)) {
    const input = rendered(t, values);
    const { status, stdout, stderr } = spawnSync(decoder, { input, encoding: 'utf8' });
    t.equal(status, 0, stderr);
    const own = name === 'plain' ? ['v1 Secret'] : OPTIONAL;
    t.strictSame(stdout.trim().split('\n').toSorted(), [...ALWAYS, ...own].toSorted());
    const mistaken = input.replace('readOnlyRootFilesystem:', 'readOnlyRootFileSystem:');
    const refused = spawnSync(decoder, { input: mistaken, encoding: 'utf8' });
    t.match(refused, { status: 1, stderr: /unknown field/ });
  }
});

interface NetworkPolicy {
  readonly egress: readonly { readonly ports: readonly { readonly port: number | string }[] }[];
}

t.test(
  'what replicas connect to is let out: by the ports of the addresses that are set',
  { skip },
  async (t) => {
    const portsWith = (...values: readonly string[]): readonly (number | string)[] => {
      const text = rendered(
        t,
        values.flatMap((value) => ['--set', value]),
      );
      const policy = manifests(text).find(({ kind }) => kind === 'NetworkPolicy');
      const { egress = [] } = (policy?.spec ?? {}) as Partial<NetworkPolicy>;
      return egress.flatMap(({ ports }) => ports.map(({ port }) => port)).filter((port) => port !== 53);
    };
    t.strictSame(portsWith('keyStore.url=redis://store/0'), [6379]);
    t.strictSame(portsWith('keyStore.url=redis://user:123@store/0'), [6379], 'a password is no port');
    t.strictSame(portsWith('keyStore.url=rediss://user:secret@store:6380/0'), [6380]);
    t.strictSame(portsWith('keyStore.url=rediss://store:6380'), [6380]);
    t.strictSame(portsWith('keyStore.existingSecret=mine', 'keyStore.port=7000'), [7000]);
    const own = 'keyStore.url=redis://store';
    for (const [endpoint, port] of [
      ['http://collector:4318', 4318],
      ['http://collector/v1', 80],
      ['https://collector', 443],
    ] as const) {
      t.strictSame(portsWith(own, `env.OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`), [6379, port]);
      t.strictSame(portsWith(own, `env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${endpoint}`), [6379, port]);
    }
  },
);

t.test('volumes and variables of a private authority and of a model fit each other', { skip }, async (t) => {
  const text = rendered(t, INSTALLATIONS['with everything'] ?? []);
  const deployment = JSON.stringify(manifests(text).find(({ kind }) => kind === 'Deployment'));
  for (const part of [
    { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/acuity/ca/ca.crt' },
    { name: 'ACUITY_MODEL', value: '/model/acuity-2' },
    { name: 'ca', mountPath: '/etc/acuity/ca', readOnly: true },
    { name: 'model', mountPath: '/model', readOnly: true },
    { name: 'ca', secret: { secretName: 'ca' } },
    { name: 'model', persistentVolumeClaim: { claimName: 'models' } },
  ])
    t.ok(deployment.includes(JSON.stringify(part)), JSON.stringify(part));
});

t.test(
  'Prometheus Operator gets the job by the name of the rules, and the rules as they are',
  { skip },
  async (t) => {
    const found = manifests(rendered(t, INSTALLATIONS['with everything'] ?? []));
    t.match(found.find(({ kind }) => kind === 'PodMonitor')?.spec, {
      podMetricsEndpoints: [{ port: 'admin', relabelings: [{ targetLabel: 'job', replacement: 'acuity' }] }],
    });
    const rules = parseYaml(textOf('deploy/helm/files/alerts.yml')) as object;
    t.strictSame(found.find(({ kind }) => kind === 'PrometheusRule')?.spec, rules);
  },
);

t.test('a chart without a key store is refused', { skip }, async (t) => {
  t.match(helm('template', 'mine', CHART, ...CLUSTER), { status: 1, stderr: /keyStore\.url/ });
});
