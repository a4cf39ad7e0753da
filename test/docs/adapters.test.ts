import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readRecording, type Recording } from '#adapters/recording.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';

/** docs/ADAPTERS.md and the examples that it shows. */

const PAGE = readFileSync(join(REPOSITORY, 'docs/ADAPTERS.md'), 'utf8');
const EXAMPLES = join(REPOSITORY, 'docs/examples/adapters');
const SCORE_FIELDS = ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'];
const EXAMPLE_BLOCK = /<!-- example: (\S+) -->\n```\w+\n([^]*?)```\n/g;

t.test('the page shows the examples as they are', async (t) => {
  const shown = [...PAGE.matchAll(EXAMPLE_BLOCK)];
  for (const [, name = '', code] of shown) t.equal(code, readFileSync(join(EXAMPLES, name), 'utf8'), name);
  const names = shown.map(([, name]) => name).toSorted();
  t.strictSame(names, readdirSync(EXAMPLES).toSorted());
});

t.test('the first example is a night and an hour, and all of it is used', async (t) => {
  const text = readFileSync(join(EXAMPLES, 'recording.json'), 'utf8');
  const { recording, ...person } = (JSON.parse(text) as { current_session: { recording: Recording } })
    .current_session;
  const { night, session, left } = readRecording(recording, person);
  t.equal(night, '2026-03-02');
  t.match(session, { HR_day_1h: [68], sleepTimeSeconds: 27_000, age: 34 });
  t.strictSame(left, []);
});

t.test('the example in JavaScript scores it', async (t) => {
  const server = await startServer(t);
  const env = cleanEnvironment({
    ACUITY_URL: `http://127.0.0.1:${server.port}`,
    ACUITY_API_KEY: server.key,
  });
  const { code, stdout, stderr } = await ended(process.execPath, [join(EXAMPLES, 'oura.js')], { cwd: REPOSITORY, env }); // prettier-ignore
  t.equal(code, 0, stderr);
  t.equal(stderr, '');
  for (const field of SCORE_FIELDS) t.match(stdout, field);
});
