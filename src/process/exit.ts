import { createRequire } from 'node:module';

/**
 * Leaves the process with `code` (0 to 255) whatever its worker threads are doing. No `exit` listener is called: flush
 * what must be flushed before.
 *
 * `process.exit` first ends the worker threads and waits for them. During a model run that aborts the process (SIGABRT
 * instead of the code), and where a worker hangs in native code it never returns. The one call that Node has to the
 * plain `exit` of the C library is WASI's `proc_exit`.
 */
export function exitAtOnce(code: number): never {
  try {
    // Loaded here alone: Node warns that it is experimental, on a tick that never comes.
    const { WASI } = createRequire(import.meta.url)('node:wasi') as typeof import('node:wasi');
    const wasi = new WASI({ version: 'preview1', returnOnExit: false });
    const memory = new WebAssembly.Memory({ initial: 1 });
    wasi.initialize({ exports: { memory } }); // without a memory it takes no calls
    const { proc_exit: exit } = wasi.wasiImport as { proc_exit(code: number): never };
    exit(code);
  } finally {
    process.exit(code);
  }
}
