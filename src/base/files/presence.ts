import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { errorCode, ifPresent } from './fileError.js';
import type { Files } from './files.js';

const NONCE_BYTES = 4;
const SUFFIX = '.serving';

/** Whether others serve from a file, and how to leave it. */
export interface Presence {
  readonly isShared: boolean;
  leave(): Promise<void>;
}

/**
 * Says that this process serves from the file at `path`, and asks whether another one does: each listens on a socket
 * beside the file. The system answers for it as long as the process lives, in another container too, so a crash leaves
 * a dead socket, which the next start removes, and never a wrong answer. Where the folder takes no sockets, nothing is
 * known of others. Keeps no process alive.
 */
export async function attend(path: string, files: Files): Promise<Presence> {
  try {
    const found = await ifPresent(files.realPath(path));
    const file = found ?? join(await files.realPath(dirname(path)), basename(path));
    const own = `${basename(file)}.${randomBytes(NONCE_BYTES).toString('hex')}${SUFFIX}`;
    const folder = dirname(file);
    const leave = (): Promise<void> => files.remove(join(folder, own)).catch(() => undefined);
    const names = await files.namesIn(folder);
    const others = names.filter((name) => name.startsWith(`${basename(file)}.`) && name.endsWith(SUFFIX));
    const states = await inFolder(folder, async (place) => {
      await listen(join(place, own));
      return Promise.all(others.map((name) => stateOf(join(place, name))));
    });
    const dead = others.filter((_, at) => states[at] === 'dead');
    for (const name of dead) await files.remove(join(folder, name)).catch(() => undefined);
    return { isShared: states.includes('alive'), leave };
  } catch {
    return { isShared: false, leave: () => Promise.resolve() };
  }
}

/** Calls `work` with a short path to the folder: that of a socket has room for some 100 bytes. */
async function inFolder<T>(folder: string, work: (place: string) => Promise<T>): Promise<T> {
  if (process.platform !== 'linux') return work(folder);
  const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await work(`/proc/self/fd/${handle}`);
  } finally {
    closeSync(handle);
  }
}

function listen(path: string): Promise<void> {
  const server = createServer((socket) => socket.destroy()).unref();
  return new Promise((resolve, reject) => {
    server.on('error', reject).listen(path, resolve);
  });
}

/** Whether a process listens on the socket at `path`; `unknown` if this user may not ask. */
export function stateOf(path: string): Promise<'alive' | 'dead' | 'unknown'> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve('alive');
    });
    socket.on('error', (error) => {
      const code = errorCode(error);
      // EAGAIN: its queue of callers is full.
      resolve(code === 'ECONNREFUSED' ? 'dead' : code === 'EAGAIN' ? 'alive' : 'unknown');
    });
  });
}
