import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runPayloads } from '#bench/payloads.js';
import { UsageError } from '#bench/usage.js';
import { REPOSITORY } from '../fixtures/repository.js';

const run = promisify(execFile);

interface Case {
  readonly input: unknown;
  readonly expect: { readonly night?: string; readonly error?: string };
}

t.test('npm run bench -- payloads says what both clients make of a folder', async (t) => {
  const cases = ['oura', 'polar'].flatMap((provider) => {
    const text = readFileSync(join(REPOSITORY, `packages/cases/adapters/${provider}.json`), 'utf8');
    return (JSON.parse(text) as Case[]).map((one) => ({ provider, ...one }));
  });
  const files = cases.map(({ provider, input }, index) => [
    `${String(index).padStart(3, '0')}.json`,
    JSON.stringify({ provider, input }),
  ]);
  const folder = t.testdir(Object.fromEntries(files) as Record<string, string>);
  const bench = join(REPOSITORY, '.build/bench/main.js');
  const { stdout } = await run(process.execPath, [bench, 'payloads', folder]);
  const rows = stdout.split('\n').filter((line) => /^\| (oura|polar) \|/.test(line));
  t.equal(rows.length, cases.length);
  for (const [index, { expect }] of cases.entries()) {
    const said = expect.error === undefined ? (expect.night ?? 'the day alone') : `refused: ${expect.error}`;
    t.ok(rows[index]?.includes(`| ${said}`), rows[index] ?? '');
  }
  const refused = cases.filter(({ expect }) => expect.error !== undefined).length;
  t.match(
    stdout,
    `${cases.length} payloads of 2 providers: ${cases.length - refused} read, ${refused} refused; in 0`,
  );
});

t.test('a mistake is named', async (t) => {
  const empty = t.testdir({});
  for (const args of [[], [empty], [join(empty, 'none')], [empty, empty], ['--nonsense']]) {
    await t.rejects(runPayloads(args), UsageError, args.join(' '));
  }
});
