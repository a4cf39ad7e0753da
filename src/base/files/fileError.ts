/** System errors of files, and their words. */
import { getSystemErrorMap } from 'node:util';

/** `ENOENT` and the like; `undefined` if it is not a system error. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Not a regular file but a folder, a pipe or a device. macOS uses this code for the same. */
export const NOT_A_FILE = 'EFTYPE';
/** A file operation that did not finish in time. */
export const NO_ANSWER = 'ETIMEDOUT';

/** Our own words where the system's would mislead. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  [NOT_A_FILE]: 'it is not a regular file',
  [NO_ANSWER]: 'the file system does not answer',
};

/** A system error in words, for people; `undefined` for any other error. */
export function systemReason(error: unknown): string | undefined {
  const code = errorCode(error);
  if (code === undefined) return undefined;
  const own = OWN_WORDS[code];
  if (own !== undefined) return own;
  const [, words] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  return words === undefined ? undefined : `${words} (${code})`;
}

/** Makes a system error. */
export function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** The result of `reading`, or `undefined` if the file does not exist. */
export async function ifPresent<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The result of `read`, or `undefined` if the file does not exist. */
export function ifPresentSync<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
