import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { folder } from '#fixtures/lake.js';
import { MODEL } from '#fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '#fixtures/repository.js';
import { ended } from '#fixtures/scripts.js';

/** A lake in an S3 server (moto), and a Delta table, by extensions of the engine. */

const MAIN = join(REPOSITORY, 'dist/main.js');
const PYTHON = join(REPOSITORY, '.build/python/bin/python');
const HIVE = join(REPOSITORY, 'test/foreign/hive.py');
const imports = 'import deltalake, duckdb, moto.server, pandas, polars; from pyarrow.fs import S3FileSystem';
const areThere = spawnSync(PYTHON, ['-c', imports]).status === 0;
const skip = areThere ? false : 'npm run python -- tables installs the libraries';
/** Where PyPI's wheels of the extensions have their files. */
const FIND = `
import glob, sys, sysconfig
print(glob.glob(sysconfig.get_path("purelib") + "/**/" + sys.argv[1] + ".duckdb_extension", recursive=True)[0])
`;
const DELTA = `
import sys, deltalake, pyarrow.parquet
table = pyarrow.parquet.read_table(sys.argv[1])
half = table.num_rows // 2
deltalake.write_deltalake(sys.argv[2], table.slice(0, half))
deltalake.write_deltalake(sys.argv[2], table.slice(half), mode="append")
`;
const PUT = `
import sys, pyarrow.fs
store, _ = pyarrow.fs.FileSystem.from_uri("s3://nights?allow_bucket_creation=true")
for bucket in ("nights", "scores"): store.create_dir(bucket)
pyarrow.fs.copy_files(sys.argv[1], "s3://nights/lake")
`;
const GET = `
import json, sys, pyarrow.dataset, pyarrow.fs
store, path = pyarrow.fs.FileSystem.from_uri("s3://scores/2025")
for row in pyarrow.dataset.dataset(path + "/sorted.scores.parquet", filesystem=store).to_table().to_pylist():
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
      user_id: String(user_id), // the value of a partition is text
      night,
      C_SCORE,
      memory,
      stress,
    }))
    .toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
}

t.test('a lake in S3 is scored to S3, a Delta table by --sql: as the file is', { skip }, async (t) => {
  const dir = folder(t);
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
  const extension = async (name: string): Promise<string> =>
    (await run(PYTHON, ['-c', FIND, name], env)).trim();
  const history = ['--person', 'user_id', '--order', 'night', '--sort', '--keep', 'id,user_id,night'];
  const score = (...args: string[]): Promise<string> =>
    run(process.execPath, [MAIN, 'score', ...args, ...history], env, [65]); // a row is refused
  const file = join(dir, 'nights.parquet');
  await score(file, '--to', 'ndjson', '--out-dir', dir);
  const expected = scoresOf(readFileSync(join(dir, 'nights.scores.ndjson'), 'utf8'));
  t.equal(expected.length, 11);
  const httpfs = ['--extension', await extension('httpfs')];
  await score('s3://nights/lake', ...httpfs, '--out-dir', 's3://scores/2025');
  t.strictSame(scoresOf(await run(PYTHON, ['-c', GET], env)), expected);
  await run(PYTHON, ['-c', DELTA, file, join(dir, 'delta')], env);
  const select = `SELECT * FROM delta_scan('${join(dir, 'delta')}')`;
  const delta = ['--extension', await extension('delta'), '--to', 'ndjson', '--out-dir', join(dir, 'out')];
  await score('--sql', select, ...delta);
  t.strictSame(scoresOf(readFileSync(join(dir, 'out/query.scores.ndjson'), 'utf8')), expected);
});
