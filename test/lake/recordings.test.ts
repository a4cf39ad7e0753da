import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readRecording, type Recording } from '#adapters/recording.js';
import { MODEL } from '../fixtures/model.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';

const EXAMPLES = JSON.parse(readFileSync(join(REPOSITORY, 'assets/try/recordings.json'), 'utf8')) as Readonly<
  Record<string, Recording>
>;

t.test('acuity score takes lines with a recording, and gives the scores of its session', async (t) => {
  const recordings = Object.values(EXAMPLES);
  const lines = [
    ...recordings.map((recording) => ({ current_session: { recording, age: 34 } })),
    ...recordings.map((recording) => ({ current_session: readRecording(recording, { age: 34 }).session })),
    { current_session: { recording: { provider: 'oura', sleep: { data: [{ bedtime_start: 1 }] } } } },
  ];
  const { stdout, stderr } = spawnSync(process.execPath, [join(REPOSITORY, 'dist/main.js'), 'score'], {
    cwd: REPOSITORY,
    env: cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL }),
    input: lines.map((line) => JSON.stringify(line)).join('\n'),
    encoding: 'utf8',
  });
  const answers = stdout.trimEnd().split('\n');
  const scores = answers.map((line) => line.replace(/"row":\d+,|,"inference_time_ms".*/g, ''));
  t.equal(answers.length, lines.length);
  t.strictSame(scores.slice(0, recordings.length), scores.slice(recordings.length, -1));
  t.match(`${answers.at(-1)}${stderr}`, /recording.*sleep.*bedtime_start/);
});
