/** Whether `work` finishes within `limitMs`; rejects if `work` rejects in that time. A later result is ignored. */
export async function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  try {
    return await Promise.race([work.then(() => true), timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

/** Used in place of a promise whose work is left undone because the process is about to exit. */
export const NEVER = new Promise<never>(() => undefined);
