// Adds a key to the store at argv[2] and is killed on the way, before or after the file operation that
// argv[3] and argv[4] name.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { issue } from '#acuity/auth/lifecycle.js';

const [, , path = '', moment, operation = ''] = process.argv;
const operations = fs.promises as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
const original = operations[operation];
if (original === undefined) throw new Error(`there is no operation ${operation}`);

operations[operation] = async (...given) => {
  if (moment === 'after') await original(...given);
  process.kill(process.pid, 'SIGKILL');
};
syncBuiltinESMExports();

const { FileKeyStore } = await import('#acuity/auth/fileStore.js');
await new FileKeyStore(path).insert(issue({ kind: 'demo', label: 'crashed' }, Date.now()).record);
