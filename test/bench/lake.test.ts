import t from 'tap';
import { runLake } from '#bench/lake.js';
import { ended } from '#fixtures/scripts.js';

t.test('npm run bench -- lake scores a lake in each way', async (t) => {
  const options = '--rows 300 --people 10 --repetitions 1 --ways history,ndjson,sort';
  const args = ['.build/bench/main.js', 'lake', ...options.split(' ')];
  const { code, stdout, stderr } = await ended(process.execPath, args);
  t.equal(code, 0, stderr);
  // Less the start, which is most of so few rows and varies by more: their cost may be below 0.
  for (const way of ['history', 'ndjson', 'sort'])
    t.match(stdout, new RegExp(`\\| ${way} +\\| +300 \\| +-?\\d`), way);
  await t.rejects(runLake(['--ways', 'avro']), { message: /no way is called avro/ });
});
