import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '#fixtures/repository.js';
import { freePort, type Teardown } from '#fixtures/server.js';

/** Why it can't be run; false if it can. */
export const WITHOUT_PROMETHEUS: string | false =
  spawnSync('prometheus', ['--version'], { stdio: 'ignore' }).status === 0
    ? false
    : 'prometheus is not installed (Debian: apt-get install prometheus)';

export interface Prometheus {
  readonly url: string;
  /** Sets the admin ports to scrape from now on. */
  watch(adminPorts: readonly number[]): void;
  /** Removes all targets until the returned function is called. */
  forget(): () => void;
  /** Whether the alert fires; for this admin port, if the rule distinguishes instances. */
  isFiring(alert: string, adminPort: number): Promise<boolean>;
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1e3, m: 6e4, h: 3.6e6, d: 8.64e7 };
/** A minute in the rules is a second here. */
const FACTOR = 60;
/** Alerts that compare weeks need more. */
const FACTORS: Readonly<Record<string, number>> = { AcuityFieldsMissing: 6000 };
/** A rate needs several scrapes. */
const RANGE_MIN_MS = 5000;
const READY_MS = 60_000;

/** deploy/helm/files/alerts.yml with shorter times and no other change. */
export function shortened(rules: string): string {
  return rules
    .split(/^(?= {6}- alert: )/m)
    .map((rule) => {
      const factor = FACTORS[/alert: (\w+)/.exec(rule)?.[1] ?? ''] ?? FACTOR;
      return rule.replace(
        /(\[|offset |for: )(\d+)([smhd])/g,
        (_, before: string, count: string, unit: string) => {
          const ms = Math.round((Number(count) * (UNITS_MS[unit] ?? NaN)) / factor);
          return `${before}${before === '[' ? Math.max(RANGE_MIN_MS, ms) : ms}ms`;
        },
      );
    })
    .join('');
}

interface Alerts {
  readonly data: {
    readonly alerts: readonly { readonly state: string; readonly labels: Readonly<Record<string, string>> }[];
  };
}

/** Prometheus with our rules, in a process that ends with the scope. */
export async function startPrometheus(t: Teardown, folder: string): Promise<Prometheus> {
  const port = await freePort();
  const targets = join(folder, 'targets.json');
  let watched: readonly number[] = [];
  const write = (adminPorts: readonly number[]): void => {
    const list = [{ targets: adminPorts.map((adminPort) => `127.0.0.1:${adminPort}`) }];
    writeFileSync(`${targets}.new`, JSON.stringify(list));
    renameSync(`${targets}.new`, targets);
  };
  write(watched);
  writeFileSync(
    join(folder, 'alerts.yml'),
    shortened(readFileSync(join(REPOSITORY, 'deploy/helm/files/alerts.yml'), 'utf8')),
  );
  writeFileSync(
    join(folder, 'prometheus.yml'),
    [
      'global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }',
      'rule_files: [alerts.yml]',
      'scrape_configs:',
      '  - job_name: acuity',
      '    file_sd_configs: [{ files: [targets.json], refresh_interval: 1s }]',
      '',
    ].join('\n'),
  );
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'tsdb')}`,
  ];
  const child = spawn('prometheus', [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' });
  const ended = once(child, 'close');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  const ask = (path: string): Promise<Response> => fetch(url + path);
  const endsMs = Date.now() + READY_MS;
  while (
    !(await ask('/-/ready').then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (Date.now() > endsMs || child.exitCode !== null) throw new Error('prometheus does not start');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return {
    url,
    watch(adminPorts) {
      watched = adminPorts;
      write(watched);
    },
    forget() {
      write([]);
      return () => write(watched);
    },
    async isFiring(alert, adminPort) {
      const { data } = (await (await ask('/api/v1/alerts')).json()) as Alerts;
      return data.alerts.some(
        ({ state, labels: { alertname, instance } }) =>
          state === 'firing' &&
          alertname === alert &&
          (instance === undefined || instance === `127.0.0.1:${adminPort}`),
      );
    },
  };
}
