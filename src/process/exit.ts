import { createRequire } from 'node:module';

/*
 * `process.exit` first ends the worker threads and waits for them. During a model run that aborts the process
 * (SIGABRT instead of the code), and where a worker hangs in native code it never returns. The one call that
 * Node has to the plain `exit` of the C library is WASI's `proc_exit`: this module, which does nothing else,
 * is its way there.
 *
 *   (module
 *     (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))
 *     (memory (export "memory") 0)
 *     (func (export "_start") (call 0 (i32.const CODE))))
 */
function exitModule(code: number): WebAssembly.Module {
  return new WebAssembly.Module(
    Uint8Array.from([
      0x00,
      ...ascii('asm'),
      ...VERSION,
      ...section(0x01, [2, ...TAKES_NUMBER, ...TAKES_NOTHING]),
      ...section(0x02, [1, ...text('wasi_snapshot_preview1'), ...text('proc_exit'), 0x00, 0]),
      ...section(0x03, [1, 1]),
      ...section(0x05, [1, 0x00, 0]),
      ...section(0x07, [2, ...text('memory'), 0x02, 0, ...text('_start'), 0x00, 1]),
      ...section(0x0a, [1, 7, 0, 0x41, ...leb128(code), 0x10, 0, 0x0b]),
    ]),
  );
}

const VERSION = [0x01, 0x00, 0x00, 0x00];
const I32 = 0x7f;
/** Function types: the numbers of parameters and results, with their types. */
const TAKES_NUMBER = [0x60, 1, I32, 0];
const TAKES_NOTHING = [0x60, 0, 0];

function section(id: number, content: readonly number[]): number[] {
  return [id, content.length, ...content];
}

function ascii(word: string): number[] {
  return [...Buffer.from(word)];
}

function text(word: string): number[] {
  return [word.length, ...ascii(word)];
}

/** A signed number of 14 bits: two bytes, seven bits in each. */
function leb128(value: number): [number, number] {
  return [(value & 0x7f) | 0x80, value >> 7];
}

/**
 * Leaves the process with `code` (0 to 255) whatever its worker threads are doing. No `exit` listener is
 * called: flush what must be flushed before.
 */
export function exitAtOnce(code: number): never {
  try {
    // Loaded here alone: Node warns that it is experimental, on a tick that never comes.
    const { WASI } = createRequire(import.meta.url)('node:wasi') as typeof import('node:wasi');
    const wasi = new WASI({ version: 'preview1', returnOnExit: false });
    wasi.start(new WebAssembly.Instance(exitModule(code), { wasi_snapshot_preview1: wasi.wasiImport }));
  } finally {
    process.exit(code);
  }
}
