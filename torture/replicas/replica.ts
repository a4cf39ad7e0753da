import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeManifest, copyModel } from '#fixtures/model.js';
import { cleanEnvironment, REPOSITORY } from '#fixtures/repository.js';
import type { Teardown } from '#fixtures/server.js';

/** What a replica runs: a version of the service, and a model. */
export interface Release {
  readonly folder: string;
  readonly model: string;
  /** As the metrics name them. */
  readonly version: string;
  readonly modelVersion: string;
}

export interface Ports {
  readonly port: number;
  readonly adminPort: number;
}

const READY_MS = 60_000;
const NICENESS = 10;
/** Longer than two checks of the load balancer. */
export const STOP_DELAY_MS = 2000;

/** The release of this tree, and one that differs from it by its version and its model's. */
export function makeReleases(folder: string): { now: Release; next: Release } {
  const packageFile = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    version: string;
  };
  const release = (name: string, suffix: string): Release => {
    const place = join(folder, name);
    mkdirSync(place);
    cpSync(join(REPOSITORY, 'dist'), join(place, 'dist'), { recursive: true });
    const version = packageFile.version + suffix;
    writeFileSync(join(place, 'package.json'), JSON.stringify({ ...packageFile, version }));
    for (const shared of ['node_modules', 'assets', 'docs'])
      symlinkSync(join(REPOSITORY, shared), join(place, shared));
    const model = copyModel(join(place, 'model'));
    let modelVersion = '';
    changeManifest(model, (manifest) => {
      modelVersion = `${manifest.name}/${manifest.version}${suffix}`;
      return { ...manifest, version: manifest.version + suffix };
    });
    return { folder: place, model, version, modelVersion };
  };
  return { now: release('now', ''), next: release('next', '-next') };
}

/** One of the three: its own ports, and the process serving on them. */
export class Replica {
  private child: ChildProcess | undefined;
  private said = '';

  constructor(
    readonly ports: Ports,
    private readonly storeUrl: string,
  ) {}

  /** Starts the process; resolves when it accepts requests. */
  async start(t: Teardown, release: Release): Promise<void> {
    this.said = '';
    const serve = [process.execPath, join(release.folder, 'dist/main.js'), 'serve'];
    // The load balancer and the callers represent other machines, so they have priority.
    const child = spawn('nice', ['-n', String(NICENESS), ...serve], {
      cwd: release.folder,
      env: cleanEnvironment({
        ACUITY_PORT: String(this.ports.port),
        ACUITY_ADMIN_PORT: String(this.ports.adminPort),
        ACUITY_KEYS: this.storeUrl,
        ACUITY_MODEL: release.model,
        ACUITY_WORKERS: '1',
        ACUITY_STOP_DELAY_MS: String(STOP_DELAY_MS),
        // Three replicas share the machine with their load: waits show in p99, and are no failure.
        ACUITY_DEADLINE_MS: '10000',
        ACUITY_HANG_MS: '30000',
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.said = (this.said + text).slice(-4000)));
    t.teardown(() => this.kill());
    const endsMs = Date.now() + READY_MS;
    while (!(await this.isReady())) {
      if (child.exitCode !== null || Date.now() > endsMs)
        throw new Error(`a replica is not ready: ${this.said}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Stops it like a supervisor; resolves to its exit code. */
  async stop(): Promise<number | null> {
    const { child } = this;
    if (child === undefined) throw new Error('it does not run');
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
    return child.exitCode;
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  async isReady(): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${this.ports.adminPort}/readyz`).catch(() => undefined);
    await response?.body?.cancel();
    return response?.ok === true;
  }

  /** Whether it reports this release. */
  async runs(release: Release): Promise<boolean> {
    const text = await this.metrics();
    return (
      text.includes(`acuity_build_info{version="${release.version}"`) &&
      text.includes(`acuity_model_info{version="${release.modelVersion}"`)
    );
  }

  async isLocal(): Promise<boolean> {
    return /^acuity_limits_local 1$/m.test(await this.metrics());
  }

  private async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.ports.adminPort}/metrics`)).text();
  }
}
