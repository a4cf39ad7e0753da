import t from 'tap';
import { ended, running } from '../../fixtures/scripts.js';

/** A script that has a `StandardOutput`, in a process of its own: its standard output is the file under test. */
function scriptOf(text: string): string[] {
  const imports = `import { StandardOutput } from '#acuity/base/process/standardOutput.js'; const out = new StandardOutput();`;
  return ['--input-type=module', '--eval', imports + text];
}

async function linesOf(script: string): Promise<string[]> {
  const { stdout, code, stderr } = await ended(process.execPath, scriptOf(script));
  if (code !== 7) throw new Error(`exit code ${code}: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}

t.test(
  'lines are written in order; a burst beyond the buffer is dropped, counted and reported',
  async (t) => {
    const lines = await linesOf(`
    for (let i = 0; i < 2000; i++) out.write('line ' + i + '\\n');
    await out.flushed(20_000);
    const text = 'x'.repeat(1000) + '\\n';
    for (let i = 0; i < 3000; i++) out.write(text);
    await out.flushed(20_000);
    process.exit(7);`);
    const first = Array.from({ length: 2000 }, (_, index) => `line ${index}`);
    t.strictSame(lines.slice(0, 2000), first);
    const told = lines
      .filter((line) => line.includes('log lines dropped'))
      .map((line) => (JSON.parse(line) as { lines: number }).lines)
      .reduce((sum, count) => sum + count, 0);
    t.ok(told > 0);
    t.equal(lines.filter((line) => line.startsWith('xxx')).length + told, 3000);
  },
);

t.test('lines of two threads on one pipe are not mixed', async (t) => {
  const lines = await linesOf(`
    import { Worker } from 'node:worker_threads';
    const code = \`import('#acuity/base/process/standardOutput.js').then(({ StandardOutput }) => {
      const out = new StandardOutput();
      for (let i = 0; i < 500; i++) out.write('b'.repeat(700) + '\\\\n');
      return out.flushed(20_000);
    })\`;
    const thread = new Worker(code, { eval: true });
    for (let i = 0; i < 500; i++) out.write('a'.repeat(700) + '\\n');
    await new Promise((resolve) => thread.once('exit', resolve));
    await out.flushed(20_000);
    process.exit(7);`);
  t.equal(lines.length, 1000);
  t.ok(lines.every((line) => /^(a{700}|b{700})$/.test(line)));
});

t.test('without a reader a flush ends at its limit, and writing goes on when a reader comes', async (t) => {
  const script = scriptOf(`
    for (let i = 0; i < 900; i++) out.write(i + 'x'.repeat(1000) + '\\n');
    await out.flushed(100);
    process.stderr.write('given up');
    await out.flushed(20_000);
    process.exit(7);`);
  const { child, exited, says, output } = running(t, [process.execPath, ...script]);
  child.stdout?.pause();
  await says(/^given up$/);
  child.stdout?.resume();
  t.match(await exited, { code: 7 });
  t.equal(output().split('\n').length, 901);
});
