// Adds a key to the store at argv[2] and is killed on the way, before or after the file operation that
// argv[3] and argv[4] name.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { issue } from '#acuity/auth/lifecycle.js';

const [, , path = '', moment, operation = ''] = process.argv;
type Operations = Record<string, (...given: unknown[]) => unknown>;
// The lock is waited for, and so made with promises; the file itself is written without.
const operations = (operation.endsWith('Sync') ? fs : fs.promises) as unknown as Operations;
const original = operations[operation];
if (original === undefined) throw new Error(`there is no operation ${operation}`);

operations[operation] = (...given) => {
  const die = (): never => process.kill(process.pid, 'SIGKILL') as never;
  if (moment === 'before') return die();
  const result = original(...given);
  return result instanceof Promise ? result.then(die) : die();
};
syncBuiltinESMExports();

const { FileKeyStore } = await import('#acuity/auth/file/fileStore.js');
await new FileKeyStore(path).insert(issue({ kind: 'demo', label: 'crashed' }, Date.now()).record);
