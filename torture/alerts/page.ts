import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MODEL } from '#fixtures/model.js';
import { cleanEnvironment, REPOSITORY } from '#fixtures/repository.js';
import { ended } from '#fixtures/scripts.js';
import type { Prometheus } from './prometheus.js';
import type { Subject } from './subject.js';

const PAGE = readFileSync(join(REPOSITORY, 'docs/RUNBOOK.md'), 'utf8');

/** Follows the commands of one kind in an alert's section. @returns those that failed, with their output */
export async function follow(
  alert: string,
  kind: 'look' | 'mend',
  subject: Subject,
  prometheus: Prometheus,
): Promise<string[]> {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${alert}\n`)) ?? '';
  const block = new RegExp(`<!-- ${kind} -->\\n\`\`\`sh\\n([^]*?)\`\`\``).exec(section)?.[1];
  if (block === undefined) return [];
  subject.writeLog();
  const failures: string[] = [];
  for (const line of block.trim().split('\n')) {
    const { code, stdout, stderr } = await ended('bash', ['-c', `${prelude(subject, prometheus)}\n${line}`], {
      cwd: subject.folder,
      env: cleanEnvironment({ ACUITY_KEYS: subject.keys, ACUITY_MODEL: subject.model, BEFORE: MODEL }),
    });
    if (code !== 0) failures.push(`${line}: ${code}; ${stdout}${stderr}`.slice(0, 500));
  }
  await restartWhereTold(subject);
  return failures;
}

/** The shell that the page assumes, with a log and a supervisor for the test. */
function prelude(subject: Subject, { url }: Prometheus): string {
  return [
    'set -o pipefail',
    `ADMIN=http://127.0.0.1:${subject.adminPort}`,
    `PROMETHEUS=${url}`,
    /^metrics\(\) .*$/m.exec(PAGE)?.[0] ?? '',
    `logs() { cat "${subject.logFile}"; }`,
    `systemctl() { echo "$@" > "${told(subject)}"; }`,
    `acuity() { "${process.execPath}" "${join(REPOSITORY, 'dist/main.js')}" "$@"; }`,
  ].join('\n');
}

function told({ folder }: Subject): string {
  return join(folder, 'systemctl');
}

async function restartWhereTold(subject: Subject): Promise<void> {
  if (!existsSync(told(subject))) return;
  rmSync(told(subject));
  await subject.kill();
  await subject.start();
}
