import t from 'tap';
import { PROVIDERS } from '#adapters/recording.js';
import { recordingsTable } from '#bench/micro/recordings.js';

t.test('npm run bench -- micro recordings times the dearest of each provider', async (t) => {
  const table = recordingsTable(2, 4096, 65_536);
  for (const provider of PROVIDERS) t.match(table, new RegExp(`^${provider} .*(read|refused)`, 'm'));
});
