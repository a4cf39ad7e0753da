/** The paths of public sockets, taken before the HTTP library listens on them. */
import { lstatSync, unlinkSync } from 'node:fs';
import { OperatorError, SettingError } from '../base/errors.js';
import { ifPresentSync, systemReason } from '../base/files/fileError.js';
import { acquireFileLock, FileLockError } from '../base/files/fileLock.js';
import { stateOf } from '../base/files/presence.js';

/** How long a start waits for another one at the same path. */
const WAIT_MS = 30_000;
const ANOTHER = 'or set ACUITY_SOCKET to another path';

/**
 * Makes room for sockets at `paths`, whose common part is `path`: the HTTP library would delete any file there, or take
 * the path from a server that lives. Until the lock that comes back is released, no other start looks at them: release
 * it once all listen.
 * @throws SettingError if anything but a socket is there
 * @throws OperatorError if a server answers there, or this user may not listen there
 */
export async function takeSocketPaths(path: string, paths: readonly string[]): Promise<() => Promise<void>> {
  let release: (() => Promise<void>) | undefined;
  try {
    release = await acquireFileLock(`${path}.lock`, WAIT_MS);
    for (const one of paths) await makeRoom(one);
    return release;
  } catch (error) {
    await release?.();
    if (error instanceof OperatorError && !(error instanceof FileLockError)) throw error;
    const reason = systemReason(error) ?? (error as Error).message;
    throw new OperatorError(
      `cannot listen on ${path}: ${reason}; its folder must exist and be this user's to write`,
      {
        cause: error,
      },
    );
  }
}

/** A socket that refuses is what a killed server left. */
async function makeRoom(path: string): Promise<void> {
  const found = ifPresentSync(() => lstatSync(path));
  if (found === undefined) return;
  if (!found.isSocket())
    throw new SettingError(
      `cannot listen on ${path}: there is something else than a socket; move it, ${ANOTHER}`,
    );
  const state = await stateOf(path);
  if (state === 'dead') return unlinkSync(path);
  const why =
    state === 'alive'
      ? 'another server answers there'
      : 'this user may not ask whether a server answers there';
  throw new OperatorError(`cannot listen on ${path}: ${why}; stop it, ${ANOTHER}`);
}
