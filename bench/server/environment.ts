/** This environment without variables that would change a server: every server starts from its defaults. */
export function plainEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(ACUITY_|BENCH_|PORT$|NODE_OPTIONS$|NODE_V8_COVERAGE$|TAP|_TAP|npm_)/.test(name),
  );
  return { ...Object.fromEntries(inherited), ...more };
}
