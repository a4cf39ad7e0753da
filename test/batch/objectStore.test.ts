import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { MODEL } from '#fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '#fixtures/repository.js';
import { ended } from '#fixtures/scripts.js';

/** A lake in an S3 server (moto), through the pipe of docs/BULK.md. */

const PYTHON = join(REPOSITORY, '.build/python/bin/python');
const LAKE = join(REPOSITORY, 'docs/examples/lake.py');
const HIVE = join(REPOSITORY, 'test/foreign/hive.py');
const ACUITY = `${process.execPath} ${join(REPOSITORY, 'dist/main.js')}`;
const imports = 'import duckdb, moto.server, pandas, polars; from pyarrow.fs import S3FileSystem';
const areThere = spawnSync(PYTHON, ['-c', imports]).status === 0;
const skip = areThere ? false : 'npm run python -- tables installs the libraries';
const PUT = `
import sys, pyarrow.fs
store, _ = pyarrow.fs.FileSystem.from_uri("s3://nights?allow_bucket_creation=true")
for bucket in ("nights", "scores"): store.create_dir(bucket)
pyarrow.fs.copy_files(sys.argv[1], "s3://nights/lake")
`;
const GET = `
import json, sys, pyarrow.dataset, pyarrow.fs
store, path = pyarrow.fs.FileSystem.from_uri("s3://scores/2025")
for row in pyarrow.dataset.dataset(path, filesystem=store, partitioning="hive").to_table().to_pylist():
    print(json.dumps(row))
`;

type Row = Readonly<Record<string, unknown>>;

/** @returns the address of an S3 server of this test alone */
async function s3(t: Test): Promise<string> {
  const server: ChildProcess = spawn(PYTHON, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(() => server.kill('SIGKILL'));
  if (server.stderr === null) throw new Error('no output');
  for await (const line of createInterface({ input: server.stderr })) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (address === undefined) continue;
    server.stderr.resume();
    return address;
  }
  throw new Error('no server');
}

async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv, codes = [0]) {
  const { code, stdout, stderr } = await ended(command, args, { cwd: REPOSITORY, env });
  if (!codes.includes(code ?? -1)) throw new Error(stderr);
  return stdout;
}

function scoresOf(text: string): Row[] {
  const rows = text.split('\n').slice(0, -1);
  return rows
    .map((line) => JSON.parse(line) as Row)
    .filter(({ error, status }) => (error ?? status ?? undefined) === undefined)
    .map(({ id, user_id, night, C_SCORE, memory, stress }) => ({
      id,
      user_id,
      night,
      C_SCORE,
      memory,
      stress,
    }))
    .toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
}

t.test('a lake in S3 is scored through a pipe, to S3', { skip }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'acuity-s3-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const env = cleanEnvironment({
    ACUITY_WORKERS: '1',
    ACUITY_MODEL: MODEL,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: await s3(t),
  });
  await run(PYTHON, ['-B', HIVE, 'write', dir], env);
  await run(PYTHON, ['-c', PUT, join(dir, 'pandas')], env);
  const history = '--person user_id --order night --keep id,user_id,night';
  const pipe = `set -o pipefail
    ${PYTHON} ${LAKE} read s3://nights/lake night |
    ${ACUITY} score --format arrow ${history} | ${PYTHON} ${LAKE} write s3://scores/2025 night`;
  await run('bash', ['-c', pipe], env, [65]); // a row is refused
  const scores = scoresOf(await run(PYTHON, ['-c', GET], env));
  const file = join(dir, 'nights.parquet');
  await run('bash', ['-c', `${ACUITY} score ${file} ${history} --to ndjson --out-dir ${dir}`], env, [65]);
  t.equal(scores.length, 11);
  t.strictSame(scores, scoresOf(readFileSync(join(dir, 'nights.scores.ndjson'), 'utf8')));
  const lost = `set -o pipefail; ${PYTHON} ${LAKE} read s3://nights/nothing | ${ACUITY} score --format arrow`;
  await t.rejects(run('bash', ['-c', lost], env), /FileNotFoundError/);
});
