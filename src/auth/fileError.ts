import { KeyStoreError } from './store.js';

/** `ENOENT` and its like; `undefined` for what is no error of the system. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Words an error of the system for the operator; passes any other error on unchanged. */
export function storeError(action: string, error: unknown): unknown {
  const code = errorCode(error);
  return code === undefined ? error : new KeyStoreError(`can't ${action}: ${code}`, { cause: error });
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
