import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { requestsOf } from '#acuity/tune/load/payloads.js';
import { cleanEnvironment, REPOSITORY } from '../../fixtures/repository.js';
import { ended } from '../../fixtures/scripts.js';

/**
 * Standard output that can't be written: a command says so, and none ends with 0. All of them write by `print.ts` alone
 * (test/scripts/release), so one of each kind is tried: help, a text, a key, lines, a table, a report.
 */

const ACUITY = join(REPOSITORY, 'dist/main.js');
const requests = Array.from({ length: 4 }, () => requestsOf('baseline')).flat();
const dir = t.testdir();
const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
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

const COMMANDS: readonly (readonly [args: readonly string[], input?: string])[] = [
  [['--help']],
  [['config']],
  [['keys', 'issue', '--kind', 'demo', '--json']],
  [['adapt', 'oura', oura, '--age', '30']],
  [['model', 'rows'], input],
  [['score'], input],
  [['score', '--format', 'ndjson', '--to', 'parquet'], input],
  [judged],
];

/** Runs a command in a shell of its own. */
function ran(args: readonly string[], input: string | undefined, shell: string) {
  const env = cleanEnvironment({ ACUITY_KEYS: `file:${join(dir, 'keys.json')}`, ACUITY_WORKERS: '1' });
  const command = ['-c', shell, 'sh', process.execPath, ACUITY, ...args];
  return ended('bash', command, { env, cwd: dir, ...(input !== undefined && { input }) });
}

const skip = !existsSync('/dev/full');

t.jobs = 2; // each mostly waits for its threads
for (const [args, input] of COMMANDS) {
  const [name = ''] = args;
  t.test(`${name}: on a full disk it ends with 74 and says why`, { skip }, async (t) => {
    const { code, stderr } = await ran(args, input, 'exec "$@" > /dev/full');
    t.equal(code, 74, stderr);
    t.match(stderr, /standard output failed: ENOSPC/);
  });
}

for (const [args, input] of [COMMANDS[1], COMMANDS[5]].flatMap((one) => (one ? [one] : []))) {
  const [name = ''] = args;
  t.test(`${name}: a file that takes a part is no success: the system writes short first`, async (t) => {
    const whole = await ran(args, input, `exec "$@" > ${name}`);
    t.equal(whole.code, 0, whole.stderr);
    // In blocks of 1,024 bytes; the output is longer and no multiple.
    const { code, stderr } = await ran(args, input, `ulimit -f 5; exec "$@" > ${name}.part`);
    t.equal(code, 74, stderr);
    t.match(stderr, /standard output failed: EFBIG/);
  });

  t.test(`${name}: a reader that went away ends it quietly, as it ends others`, async (t) => {
    const { code, stderr } = await ran(args, input, 'set -o pipefail; "$@" | exec <&-');
    t.ok([0, 141].includes(code ?? NaN), `${code}`);
    t.notMatch(stderr, /failed|EPIPE|at /);
  });
}
