import { join } from 'node:path';
import t from 'tap';
import { REPOSITORY } from '../../fixtures/repository.js';
import { ended } from '../../fixtures/scripts.js';
import { CLEAN, startServer } from '../../fixtures/server.js';

/** The inspector, where something opens it, takes a free port. */
const ANY_PORT = '--inspect-port=0';
/** Opens it as a signal before the first line of code does, and tells at the end whether it is open. */
const BEFORE = `data:text/javascript,${encodeURIComponent(`
  import inspector from 'node:inspector';
  import { setTimeout } from 'node:timers/promises';
  process.kill(process.pid, 'SIGUSR1');
  while (inspector.url() === undefined) await setTimeout(1);
  process.on('exit', () => {
    process.kill(process.pid, 'SIGUSR1');
    console.error(inspector.url() === undefined ? 'shut' : 'open');
  });
`)}`;

t.test('SIGUSR1 opens no inspector, and one that it opened is closed', async (t) => {
  for (const [options, told] of [
    [[ANY_PORT], 'shut'],
    [['--inspect=127.0.0.1:0'], 'open'],
  ] as const) {
    const args = [...options, '--import', BEFORE, join(REPOSITORY, 'dist/main.js'), 'serve', '--help'];
    const { stderr } = await ended(process.execPath, args);
    t.match(stderr, new RegExp(`^${told}$`, 'm'), `${options[0]}: ${stderr}`);
  }
});

t.test('a running service takes SIGUSR1, and each other signal stops it as SIGTERM does', async (t) => {
  await Promise.all(
    (['SIGQUIT', 'SIGUSR2', 'SIGALRM'] as const).map(async (signal) => {
      const server = await startServer(t, { nodeOptions: [ANY_PORT] });
      server.signal('SIGUSR1');
      t.equal((await server.predict()).status, 200);
      server.signal(signal);
      t.strictSame(await server.exited, CLEAN, signal);
      t.notMatch(server.output(), 'Debugger');
    }),
  );
});
