/** In place of what is left undone where the process is about to be left. */
export const NEVER = new Promise<never>(() => undefined);
