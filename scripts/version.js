/** The one version of server, clients and chart, and where it is written (RELEASING.md). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const JSON_VERSION = /"version": "([^"]+)"/;

/** Each file with the expressions that find the version in it. */
export const PLACES = {
  'package.json': [JSON_VERSION],
  'package-lock.json': [
    /^\{\n {2}"name": "acuity",\n {2}"version": "([^"]+)"/,
    /"packages": \{\n {4}"": \{\n {6}"name": "acuity",\n {6}"version": "([^"]+)"/,
    /"packages\/client-ts": \{\n {6}"name": "acuity-client",\n {6}"version": "([^"]+)"/,
  ],
  'packages/client-ts/package.json': [JSON_VERSION],
  'packages/client-ts/src/version.ts': [/^export const VERSION = '([^']+)'/m],
  'packages/client-python/pyproject.toml': [/^version = "([^"]+)"/m],
  'packages/client-python/src/acuity_client/__init__.py': [/^__version__ = "([^"]+)"/m],
  'deploy/helm/Chart.yaml': [/^version: (.+)$/m, /^appVersion: (.+)$/m],
  'CHANGELOG.md': [/^## (\d+\.\d+\.\d+)/m],
};

/**
 * @param {string} root
 * @returns {{ version: string, problems: string[] }}  a problem for each place that says another version than package.json
 */
export function versionOf(root) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const problems = Object.entries(PLACES).flatMap(([path, expressions]) => {
    const text = readFileSync(join(root, path), 'utf8');
    return expressions
      .map((expression) => expression.exec(text)?.[1] ?? 'no version')
      .filter((found) => found !== version)
      .map((found) => `${path} says ${found}, package.json ${version}`);
  });
  return { version, problems };
}
