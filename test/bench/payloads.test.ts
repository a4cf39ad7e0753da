import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runPayloads } from '#bench/payloads.js';
import { UsageError } from '#bench/usage.js';
import { REPOSITORY } from '../fixtures/repository.js';

const run = promisify(execFile);

t.test('npm run bench -- payloads says what becomes of a folder', async (t) => {
  const text = readFileSync(join(REPOSITORY, 'docs/examples/adapters/recording.json'), 'utf8');
  const { current_session: session } = JSON.parse(text) as { current_session: { recording: object } };
  const folder = t.testdir({
    'a.json': JSON.stringify(session.recording),
    'b.json': JSON.stringify({ provider: 'whoop', sleep: [] }),
  });
  const bench = join(REPOSITORY, '.build/bench/main.js');
  const { stdout } = await run(process.execPath, [bench, 'payloads', folder]);
  t.match(stdout, /^\| oura \| a\.json \| 2026-03-02 \|$/m);
  t.match(stdout, /^\| whoop \| b\.json \| refused: sleep: expected the answer of/m);
  t.match(stdout, '2 payloads of 2 providers: 1 read, 1 refused');
});

t.test('a mistake is named', async (t) => {
  const empty = t.testdir({});
  for (const args of [[], [empty], [join(empty, 'none')], [empty, empty], ['--nonsense']]) {
    await t.rejects(runPayloads(args), UsageError, args.join(' '));
  }
});
