import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { REPOSITORY } from '../fixtures/repository.js';

const PARSER = join(REPOSITORY, 'dist/reading/wasmParser.js');

/** What a compiled file imports when it runs, and what those files import. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/^import\b[^;]*?'([^']+)';/gm)) {
    const path = pathOf(name, file);
    if (seen.has(path)) continue;
    seen.add(path);
    if (path !== name) importsOf(path, seen);
  }
  return seen;
}

/** The file of ours that `name` means in `file`; a package stays its name. */
function pathOf(name: string, file: string): string {
  if (name.startsWith('#rules/')) return join(REPOSITORY, 'dist/rules', name.slice('#rules/'.length));
  return name.startsWith('.') ? join(dirname(file), name) : name;
}

t.test(
  'a worker loads no schemas, which would take more memory than its network, and no parser',
  async (t) => {
    const worker = importsOf(join(REPOSITORY, 'dist/worker/entry.js'));
    t.ok(worker.has('onnxruntime-node'), 'its imports are followed');
    t.strictSame(
      [...worker].filter((path) => path.startsWith('typebox')),
      [],
    );
    t.notOk(worker.has(PARSER), 'nor the parser: where things lie in a record is known without it');
    const loop = importsOf(join(REPOSITORY, 'dist/server/eventLoopServer.js'));
    t.ok(loop.has('typebox') && loop.has(PARSER), 'an event loop needs both');
  },
);
