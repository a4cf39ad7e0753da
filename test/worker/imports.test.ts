import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { REPOSITORY } from '../fixtures/scripts.js';

/** What a compiled file imports when it runs, and what those files import. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/^import\b[^;]*?'([^']+)';/gm)) {
    const path = name.startsWith('.') ? join(dirname(file), name) : name;
    if (seen.has(path)) continue;
    seen.add(path);
    if (name.startsWith('.')) importsOf(path, seen);
  }
  return seen;
}

t.test('a worker loads no schemas: they would take more memory than its network', async (t) => {
  const worker = importsOf(join(REPOSITORY, 'dist/worker/entry.js'));
  t.ok(worker.has('onnxruntime-node'), 'its imports are followed');
  t.strictSame(
    [...worker].filter((path) => path.startsWith('typebox')),
    [],
  );
  const loop = importsOf(join(REPOSITORY, 'dist/server/eventLoopServer.js'));
  t.ok(loop.has('typebox'), 'an event loop needs them');
});
