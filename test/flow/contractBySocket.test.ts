import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/repository.js';

/** The whole contract once more, by a Unix socket. */

process.env['CONTRACT_SOCKET'] = join(temporaryFolder(t), 'acuity.sock');
await import('./contract.test.js');
