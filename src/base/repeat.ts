/** Does `work` again and again until what it returns is called. Injected, so that tests decide when. */
export type Repeat = (work: () => void, everyMs: number) => () => void;

/** Keeps no process alive. */
export const systemRepeat: Repeat = (work, everyMs) => {
  const timer = setInterval(work, everyMs).unref();
  return () => clearInterval(timer);
};
