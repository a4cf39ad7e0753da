import { createRequire } from 'node:module';

/**
 * Exits with `code` (0 to 255), even while worker threads are busy. Calls no `exit` listener: flush everything
 * first.
 *
 * `process.exit` ends the worker threads and waits for them. During a model run that aborts the process (SIGABRT
 * instead of the code), and it never returns if a worker hangs in native code. Node's only way to the plain `exit` of
 * the C library is WASI's `proc_exit`.
 */
export function exitAtOnce(code: number): never {
  try {
    // Loaded only here: Node warns that it is experimental, in a later tick that never comes.
    const { WASI } = createRequire(import.meta.url)('node:wasi') as typeof import('node:wasi');
    const wasi = new WASI({ version: 'preview1', returnOnExit: false });
    const memory = new WebAssembly.Memory({ initial: 1 });
    wasi.initialize({ exports: { memory } }); // it takes no calls without a memory
    const { proc_exit: exit } = wasi.wasiImport as { proc_exit(code: number): never };
    exit(code);
  } finally {
    process.exit(code);
  }
}
