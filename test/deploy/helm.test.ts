import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import t, { type Test } from 'tap';
import { VARIABLES } from '#acuity/config/variables.js';
import { REPOSITORY } from '../fixtures/repository.js';

const CHART = join(REPOSITORY, 'deploy/helm');
const HELM = process.env['HELM'] ?? 'helm';
/** A helm that was compiled without its release's flags takes itself for an old cluster's. */
const CLUSTER = ['--kube-version', '1.31.0'];
const DECODER = join(REPOSITORY, 'test/fixtures/kubernetes');

const runs = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;
const skip = runs(HELM, 'version')
  ? false
  : 'helm is not there: HELM names it (go install helm.sh/helm/v3/cmd/helm@v3.19.0)';
const skipDecoding = skip || (runs('go', 'version') ? false : 'Go is not installed');

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
  ].flatMap((value) => ['--set', value]),
};

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
    const takesAll = JSON.stringify(deployment).includes('0.0.0.0');
    t.ok(takesAll);
  });

  t.test(`the chart, ${name}: what the API server would take`, { skip: skipDecoding }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'acuity-kubernetes-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const decoder = join(folder, 'decode');
    const built = spawnSync('go', ['build', '-o', decoder, '.'], { cwd: DECODER, encoding: 'utf8' });
    t.equal(built.status, 0, built.stderr);
    const input = rendered(t, values);
    const { status, stdout, stderr } = spawnSync(decoder, { input, encoding: 'utf8' });
    t.equal(status, 0, stderr);
    const kinds = stdout.trim().split('\n').toSorted();
    const expected = [
      'apps/v1 Deployment',
      'networking.k8s.io/v1 NetworkPolicy',
      'policy/v1 PodDisruptionBudget',
    ];
    const own = name === 'plain' ? 'v1 Secret' : 'autoscaling/v2 HorizontalPodAutoscaler';
    t.strictSame(kinds, [...expected, own, 'v1 Service'].toSorted());
    const mistaken = input.replace('readOnlyRootFilesystem:', 'readOnlyRootFileSystem:');
    t.match(spawnSync(decoder, { input: mistaken, encoding: 'utf8' }), {
      status: 1,
      stderr: /unknown field/,
    });
  });
}

t.test('a chart without a key store is refused', { skip }, async (t) => {
  t.match(helm('template', 'mine', CHART, ...CLUSTER), { status: 1, stderr: /keyStore\.url/ });
});
