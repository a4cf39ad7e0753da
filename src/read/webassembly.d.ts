/** The part of the WebAssembly interface that the parser's host uses; @types/node 20 lacks it. */

declare namespace WebAssembly {
  type Exports = Readonly<Record<string, unknown>>;
  type Module = object;
  const Module: new (bytes: Uint8Array) => Module;
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>);
    readonly exports: Exports;
  }
  class Global {
    readonly value: unknown;
  }
  class Memory {
    constructor(descriptor: { readonly initial: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
}
