/**
 * `node scripts/foreign.js`: installs third-party HTTP libraries below .build, for the callers of test/foreign: Python's
 * httpx and aiohttp, Rust's reqwest; and the generators of clients in Go and Java, with the libraries
 * that their clients use. Reports what can't be installed here; its callers are skipped.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prepare.js';

const FOLDER = join(ROOT, '.build/foreign');
const PYTHON = join(FOLDER, 'python');
const GENERATED = join(ROOT, 'test/foreign/generated');
const MAVEN_COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.3.0';
/** Modules below .build, and writable, so that the folder can be removed. */
const GO_ENV = { GOBIN: FOLDER, GOMODCACHE: join(FOLDER, 'go-modules'), GOFLAGS: '-modcacherw' };

mkdirSync(FOLDER, { recursive: true });
make(
  'Python libraries',
  ['python3', '-m', 'venv', PYTHON],
  [join(PYTHON, 'bin/python'), '-m', 'pip', 'install', '--quiet', 'httpx', 'aiohttp'],
);
make('reqwest', [
  'cargo',
  'build',
  '--quiet',
  '--release',
  '--manifest-path',
  join(ROOT, 'test/foreign/rust/Cargo.toml'),
  '--target-dir',
  join(FOLDER, 'rust'),
]);
make(
  'oapi-codegen',
  ['go', 'install', 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'],
  ['go', '-C', GENERATED, 'mod', 'download'],
);
make(
  'openapi-generator',
  [
    'mvn',
    '-q',
    `${MAVEN_COPY}:copy`,
    '-Dartifact=org.openapitools:openapi-generator-cli:7.14.0',
    `-DoutputDirectory=${join(FOLDER, 'openapi-generator')}`,
    '-Dmdep.stripVersion=true',
  ],
  [
    'mvn',
    '-q',
    '-f',
    join(GENERATED, 'pom.xml'),
    `${MAVEN_COPY}:copy-dependencies`,
    `-DoutputDirectory=${join(FOLDER, 'jackson')}`,
  ],
);

/** Runs the commands in order, until one fails. */
function make(what, ...commands) {
  const env = { ...process.env, ...GO_ENV };
  const isMade = commands.every(([command, ...args]) => {
    return spawnSync(command, args, { stdio: ['ignore', 2, 2], cwd: FOLDER, env }).status === 0;
  });
  process.stderr.write(isMade ? `${what}: ready\n` : `${what}: can't be had here\n`);
}
