import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';

/** The whole contract once more, by a Unix socket. */

const folder = mkdtempSync(join(tmpdir(), 'acuity-contract-'));
t.teardown(() => rmSync(folder, { recursive: true }));
process.env['CONTRACT_SOCKET'] = join(folder, 'acuity.sock');
await import('./contract.test.js');
