import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { requestsOf } from '#acuity/load/payloads.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';

/** Standard output that can't be written: every command says so, and none ends with 0. */

const ACUITY = join(REPOSITORY, 'dist/main.js');
const requests = Array.from({ length: 4 }, () => requestsOf('baseline')).flat();
t.setTimeout(180_000); // it starts forty processes
const dir = t.testdir();
const lines = join(dir, 'lines.ndjson');
writeFileSync(lines, requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
const nights = join(dir, 'nights.ndjson');
writeFileSync(
  nights,
  requests
    .map(
      (request, night) =>
        `${JSON.stringify({ ...request, person: night % 8, night: `2026-01-${10 + (night >> 3)}`, felt: night % 7 })}\n`,
    )
    .join(''),
);
const night = { id: '1', type: 'long_sleep', day: '2026-01-01', bedtime_start: '2026-01-01T00:00:00+00:00', bedtime_end: '2026-01-01T07:00:00+00:00', total_sleep_duration: 24000, average_heart_rate: 55 }; // prettier-ignore
const oura = join(dir, 'sleep.json');
writeFileSync(oura, JSON.stringify({ data: [night] }));
const judged = ['judge', nights, '--person', 'person', '--order', 'night', '--outcome', 'felt:attention', '--draws', '1000']; // prettier-ignore

const COMMANDS: readonly (readonly [args: readonly string[], stdin?: string])[] = [
  [['--help']],
  [['--version']],
  [['config']],
  [['config', '--markdown']],
  [['keys', 'issue', '--kind', 'demo', '--json']],
  [['adapt', 'oura', oura, '--age', '30']],
  [['model', 'rows'], lines],
  [['score', '--help']],
  [['score'], lines],
  [['score', '--format', 'ndjson', '--to', 'parquet'], lines],
  [judged],
  [[...judged, '--json']],
];

/** Runs a command as a shell does. @returns its exit code and what it says to standard error */
function ran(args: readonly string[], stdin: string | undefined, shell: string) {
  const env = cleanEnvironment({ ACUITY_KEYS: `file:${join(dir, 'keys.json')}`, ACUITY_WORKERS: '1' });
  const input = openSync(stdin ?? '/dev/null', 'r');
  const command = ['-c', shell, 'sh', process.execPath, ACUITY, ...args];
  const { status, stderr } = spawnSync('bash', command, { env, cwd: dir, encoding: 'utf8', stdio: [input, 'ignore', 'pipe'] }); // prettier-ignore
  closeSync(input);
  return { status, stderr };
}

t.test(
  'on a full disk every command ends with 74 and says why',
  { skip: !existsSync('/dev/full') },
  async (t) => {
    for (const [args, stdin] of COMMANDS) {
      const { status, stderr } = ran(args, stdin, 'exec "$@" > /dev/full');
      t.equal(status, 74, `${args.join(' ')}: ${stderr}`);
      t.match(stderr, /standard output failed: ENOSPC/);
    }
  },
);

t.test(
  'a file that takes a part of it is no success: the system writes short before it refuses',
  async (t) => {
    for (const [args, stdin] of [[['config']], [['score'], lines]] as const) {
      const whole = ran(args, stdin, 'exec "$@" > whole');
      t.equal(whole.status, 0, whole.stderr);
      // In blocks of 1,024 bytes; the output is longer and no multiple.
      const { status, stderr } = ran(args, stdin, 'ulimit -f 5; exec "$@" > part');
      t.equal(status, 74, `${args.join(' ')}: ${stderr}`);
      t.match(stderr, /standard output failed: EFBIG/);
    }
  },
);

t.test('a reader that went away ends a command quietly, as it ends others', async (t) => {
  for (const [args, stdin] of COMMANDS.slice(0, 10)) {
    const { status, stderr } = ran(args, stdin, 'set -o pipefail; "$@" | exec <&-');
    t.ok([0, 141].includes(status ?? NaN), `${args.join(' ')}: ${status}`);
    t.notMatch(stderr, /failed|EPIPE|at /);
  }
});
