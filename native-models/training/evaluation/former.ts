import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PredictionRequestBody, ScoreRecord } from '#acuity/contract/request.js';
import type { Manifest } from '#acuity/model/manifest.js';

/** Scores many requests, in their order. */
export type ScoreAll = (bodies: readonly PredictionRequestBody[]) => Promise<ScoreRecord[]>;

/** The last released version before this one, from the repository's history: its code with its network. */
export interface Former {
  readonly version: string;
  readonly score: ScoreAll;
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MANIFEST = 'native-models/acuity-base/manifest.json';
/** The former features belong to the former code: it is built once, in its own folder. */
const FOLDER = join(ROOT, '.build/former');
const OUTPUT_MAX = 2 ** 30;

/** The version before `version`, or why it can't be had here. */
export function openFormer(version: string): Former | string {
  try {
    const found = findFormer(version);
    if (found === undefined) return 'the repository’s history holds no other version';
    const folder = buildOnce(found.commit, found.version);
    return { version: found.version, score: (bodies) => Promise.resolve(scoreThere(folder, bodies)) };
  } catch (error) {
    return `the former version could not be built: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** `0.3.0-2` precedes `0.3.0`. */
function released(version: string): string {
  return version.split('-')[0] ?? version;
}

function findFormer(version: string): { commit: string; version: string } | undefined {
  for (const commit of git('log', '--format=%H', '--', MANIFEST).trim().split('\n').filter(Boolean)) {
    const manifest = JSON.parse(git('show', `${commit}:${MANIFEST}`)) as Manifest;
    if (released(manifest.version) !== released(version)) return { commit, version: manifest.version };
  }
  return undefined;
}

function git(...options: readonly string[]): string {
  return execFileSync('git', options, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

function buildOnce(commit: string, version: string): string {
  const folder = join(FOLDER, version);
  if (existsSync(join(folder, 'built'))) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: OUTPUT_MAX });
  execFileSync('tar', ['-x'], { cwd: folder, input: archive });
  // The same dependencies need no second installation; other ones are installed there, by its own build.
  const lock = 'package-lock.json';
  if (readFileSync(join(folder, lock), 'utf8') === readFileSync(join(ROOT, lock), 'utf8')) {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  }
  execFileSync(process.execPath, ['scripts/build.js', 'src'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  writeFileSync(join(folder, 'built'), commit);
  return folder;
}

/** By its own `acuity score`. */
function scoreThere(folder: string, bodies: readonly PredictionRequestBody[]): ScoreRecord[] {
  const work = mkdtempSync(join(tmpdir(), 'acuity-former-'));
  try {
    const [input, output] = [join(work, 'in.ndjson'), join(work, 'out.ndjson')];
    writeFileSync(input, bodies.map((body) => `${JSON.stringify(body)}\n`).join(''));
    const [from, to] = [openSync(input, 'r'), openSync(output, 'w')];
    const { status } = spawnSync(process.execPath, ['dist/main.js', 'score'], {
      cwd: folder,
      stdio: [from, to, 'ignore'],
      env: { PATH: process.env['PATH'], ACUITY_LOG_LEVEL: 'error', ACUITY_WORKERS: '1' },
    });
    [from, to].forEach(closeSync);
    if (status !== 0) throw new Error(`acuity score of the former version ended with ${String(status)}`);
    const lines = readFileSync(output, 'utf8').trim().split('\n');
    if (lines.length !== bodies.length) throw new Error('the former version left requests unanswered');
    return lines.map((line) => JSON.parse(line) as ScoreRecord);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
