import { getSystemErrorMap } from 'node:util';

/** `ENOENT` and its like; `undefined` for what is no error of the system. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Something to be read as a file that is none: a folder, a pipe, a device. The code is macOS's for the same. */
export const NOT_A_FILE = 'EFTYPE';
/** A file operation that did not come back in its time. */
export const NO_ANSWER = 'ETIMEDOUT';

/** Words of our own where the system's would mislead. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  [NOT_A_FILE]: 'it is not a regular file',
  [NO_ANSWER]: 'the file system does not answer',
};

/** An error of the system in words, for people; `undefined` for any other error. */
export function systemReason(error: unknown): string | undefined {
  const code = errorCode(error);
  if (code === undefined) return undefined;
  const own = OWN_WORDS[code];
  if (own !== undefined) return own;
  const [, words] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  return words === undefined ? undefined : `${words} (${code})`;
}

/** An error of the system. */
export function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** What the promise yields, or `undefined` where the file does not exist. */
export async function ifPresent<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** What `read` returns, or `undefined` where the file does not exist. */
export function ifPresentSync<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
