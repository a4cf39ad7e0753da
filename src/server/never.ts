/** Used in place of a promise whose work is left undone because the process is about to exit. */
export const NEVER = new Promise<never>(() => undefined);
