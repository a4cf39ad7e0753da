/** Repeats `work` until the returned function is called. Injected, so that tests control the timing. */
export type Repeat = (work: () => void, everyMs: number) => () => void;

/** Keeps no process alive. */
export const systemRepeat: Repeat = (work, everyMs) => {
  const timer = setInterval(work, everyMs).unref();
  return () => clearInterval(timer);
};
