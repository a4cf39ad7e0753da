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

type Values = Readonly<Record<string, unknown>>;
/** Values of each kind of installation. */
const EVERYTHING: Values = {
  keyStore: { existingSecret: 'mine', cidr: '10.0.0.7/32' },
  autoscaling: { enabled: true },
  env: { ACUITY_WORKERS: 2, OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ operator: 'Exists' }],
  image: { tag: '1.2.3', pullSecrets: [{ name: 'registry' }] },
  podAnnotations: { team: 'sleep' },
  priorityClassName: 'high',
  topologyKeys: ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'],
  affinity: {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: 'zone' } },
      ],
    },
  },
  privateCa: { secret: 'ca' },
  model: { volume: { persistentVolumeClaim: { claimName: 'models' } }, path: 'acuity-2' },
  networkPolicy: { egress: [{ ports: [{ port: 8443 }] }] },
  monitoring: { podMonitor: { enabled: true }, prometheusRule: { enabled: true } },
  ingress: { enabled: true, host: 'scores.example', tlsSecret: 'certificate' },
  httpRoute: { enabled: true, parents: [{ name: 'gateway' }], hostnames: ['scores.example'] },
};
const store = (url: string): Values => ({ keyStore: { url } });
const INSTALLATIONS: Readonly<Record<string, Values>> = {
  plain: store('rediss://acuity:secret@store:6380/0'),
  'with everything': EVERYTHING,
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

/** Runs helm with a values file: a number in one is a float, other than by `--set`. */
function helm(args: readonly string[], values: Values) {
  const env = { ...process.env, HELM_NO_PLUGINS: '1' };
  const input = JSON.stringify(values);
  return spawnSync(HELM, [...args, CHART, ...CLUSTER, '--values', '-'], { encoding: 'utf8', env, input });
}

const template = (values: Values) => helm(['template', 'mine'], values);

function rendered(t: Test, values: Values): string {
  const { status, stdout, stderr } = template(values);
  t.equal(status, 0, stderr);
  return stdout;
}

/** Of the first object of this kind. */
function specOf(t: Test, kind: string, values: Values): object | undefined {
  const documents = rendered(t, values).split(/^---$/m);
  const objects = documents.map((text) => parseYaml(text) as { kind: string; spec: object } | null);
  return objects.find((one) => one?.kind === kind)?.spec;
}

for (const [name, values] of Object.entries(INSTALLATIONS)) {
  t.test(`the chart, ${name}: linted, and rendered`, { skip }, async (t) => {
    const { status, stdout } = helm(['lint', '--strict'], values);
    t.equal(status, 0, stdout);
    const deployment = specOf(t, 'Deployment', values);
    t.match(deployment, {
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
    for (const each of names) t.ok(known.includes(each ?? ''), `the service knows ${each}`);
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
    const portsWith = (values: Values): readonly (number | string)[] => {
      const { egress = [] } = (specOf(t, 'NetworkPolicy', values) ?? {}) as Partial<NetworkPolicy>;
      return egress.flatMap(({ ports }) => ports.map(({ port }) => port)).filter((port) => port !== 53);
    };
    t.strictSame(portsWith(store('redis://store/0')), [6379]);
    t.strictSame(portsWith(store('redis://user:123@store/0')), [6379], 'a password is no port');
    t.strictSame(portsWith(store('rediss://user:secret@store:6380/0')), [6380]);
    t.strictSame(portsWith(store('rediss://store:6380')), [6380]);
    t.strictSame(portsWith({ keyStore: { existingSecret: 'mine', port: 7000 } }), [7000]);
    const own = store('redis://store');
    for (const [endpoint, port] of [
      ['http://collector:4318', 4318],
      ['http://collector/v1', 80],
      ['https://collector', 443],
    ] as const)
      for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])
        t.strictSame(portsWith({ ...own, env: { [name]: endpoint } }), [6379, port]);
  },
);

/** The Deployment as text, in which these objects stand. */
function deploymentWith(t: Test, values: Values, parts: readonly object[]): string {
  const deployment = JSON.stringify(specOf(t, 'Deployment', values));
  for (const part of parts.map((one) => JSON.stringify(one))) t.ok(deployment.includes(part), part);
  return deployment;
}

t.test('volumes and variables of a private authority and of a model fit each other', { skip }, async (t) => {
  deploymentWith(t, EVERYTHING, [
    { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/acuity/ca/ca.crt' },
    { name: 'ACUITY_MODEL', value: '/model/acuity-2' },
    { name: 'ca', mountPath: '/etc/acuity/ca', readOnly: true },
    { name: 'model', mountPath: '/model', readOnly: true },
    { name: 'ca', secret: { secretName: 'ca' } },
    { name: 'model', persistentVolumeClaim: { claimName: 'models' } },
  ]);
});

t.test(
  'Prometheus Operator gets the job by the name of the rules, and the rules as they are',
  { skip },
  async (t) => {
    t.match(specOf(t, 'PodMonitor', EVERYTHING), {
      podMetricsEndpoints: [{ port: 'admin', relabelings: [{ targetLabel: 'job', replacement: 'acuity' }] }],
    });
    const rules = parseYaml(textOf('deploy/helm/files/alerts.yml')) as object;
    t.strictSame(specOf(t, 'PrometheusRule', EVERYTHING), rules);
  },
);

t.test('beside side-cars the service is a socket in a volume that they share', { skip }, async (t) => {
  const proxy = { name: 'proxy', image: 'proxy', ports: [{ name: 'http', containerPort: 8443 }] };
  const deployment = deploymentWith(t, { ...store('redis://store'), sidecars: [proxy] }, [
    { name: 'ACUITY_SOCKET', value: '/socket/acuity.sock' },
    { name: 'socket', mountPath: '/socket' },
    { name: 'socket', emptyDir: { sizeLimit: '1Mi' } },
  ]);
  t.equal(deployment.match(/"name":"http"/g)?.length, 1, 'the port is the proxy’s');
});

t.test('a chart without a key store is refused', { skip }, async (t) => {
  t.match(template({}), { status: 1, stderr: /keyStore\.url/ });
});

interface Variable {
  readonly name: string;
  readonly value?: string;
}
const variablesOf = (t: Test, values: Values): readonly Variable[] => {
  const { template: pod } = specOf(t, 'Deployment', values) as {
    readonly template: {
      readonly spec: { readonly containers: readonly [{ readonly env: readonly Variable[] }] };
    };
  };
  return pod.spec.containers[0].env;
};

t.test('further variables reach the service as they are written', { skip }, async (t) => {
  const env = {
    ACUITY_BODIES_MAX_BYTES: 68_719_476_736,
    ACUITY_BODY_MAX_BYTES: 8_388_608,
    ACUITY_GRAFANA_URL: 'https://a/?b="1"&c',
    ACUITY_SHADOW_SHARE: 0.05,
    ACUITY_SPINNING: true,
  };
  const texts = Object.entries(env).map(([name, value]) => ({ name, value: String(value) }));
  t.strictSame(variablesOf(t, { ...store('redis://store'), env }).slice(-texts.length), texts);
});

t.test('a variable that the chart sets itself is refused, with what to set instead', { skip }, async (t) => {
  const { env: _, ...without } = EVERYTHING;
  const own = variablesOf(t, without).map(({ name }) => name);
  t.ok(own.length >= 6, own.join());
  for (const name of [...own, 'PORT', 'ACUITY_PORT', 'ACUITY_ADMIN_PORT']) {
    const { status, stderr } = template({ ...without, env: { [name]: '1' } });
    t.match(stderr, new RegExp(`/env/${name}'.*'absent: .+'`), name);
    t.equal(status, 1);
  }
  for (const name of ['ACUITY_MODEL', 'NODE_EXTRA_CA_CERTS']) {
    const variables = variablesOf(t, { ...store('redis://store'), env: { [name]: 'own' } });
    t.match(variables, [{}, {}, {}, {}, { name, value: 'own' }], `${name} of an image of one's own`);
  }
  const slow = specOf(t, 'Deployment', { ...without, drainMs: 60_000 });
  t.match(slow, { template: { spec: { terminationGracePeriodSeconds: 80 } } });
  t.match(template({ ...without, drainMs: '60s' }), { status: 1, stderr: /drainMs/ });
});
