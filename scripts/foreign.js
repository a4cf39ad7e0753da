/**
 * `npm run foreign`: HTTP libraries of others below .build, for the callers of test/foreign: Python's requests, httpx
 * and aiohttp, axios, Rust's reqwest. What can't be had here is said, and its callers are skipped.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prepare.js';

const FOLDER = join(ROOT, '.build/foreign');
const PYTHON = join(FOLDER, 'python');

mkdirSync(FOLDER, { recursive: true });
make(
  'Python libraries',
  ['python3', '-m', 'venv', PYTHON],
  [join(PYTHON, 'bin/python'), '-m', 'pip', 'install', '--quiet', 'requests', 'httpx', 'aiohttp'],
);
make('axios', [
  'npm',
  'install',
  '--prefix',
  join(FOLDER, 'node'),
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  'axios@1',
]);
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

/** Runs one command after the other, as far as they work. */
function make(what, ...commands) {
  const isMade = commands.every(([command, ...args]) => {
    return spawnSync(command, args, { stdio: ['ignore', 2, 2], cwd: FOLDER }).status === 0;
  });
  process.stderr.write(isMade ? `${what}: ready\n` : `${what}: can't be had here\n`);
}
