import t from 'tap';
import { PROVIDERS } from '#adapters/recording.js';
import { runRecordings } from '#bench/recordings.js';
import { UsageError } from '#bench/usage.js';

t.test('npm run bench -- recordings times the dearest of each provider', async (t) => {
  const said: string[] = [];
  t.capture(process.stdout, 'write', (text: string) => said.push(text));
  await runRecordings(['--bytes', '4096', '--largest', '65536', '--starts', '2', '--steps', '1']);
  for (const provider of PROVIDERS) t.match(said.join(''), new RegExp(`^${provider} .*(read|refused)`, 'm'));
});

t.test('a mistake is named', async (t) => {
  for (const args of [['--bytes', 'x'], ['--nonsense']])
    await t.rejects(runRecordings(args), UsageError, args.join(' '));
});
