/** The connection to a shared store. All calls reject with `KeyStoreError`. */
export interface StoreTransport {
  /** Sends one command. */
  send(args: readonly string[]): Promise<unknown>;
  /** Runs a script atomically. */
  run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Every field of a hash; fields written meanwhile may be missing. */
  hash(key: string): AsyncIterable<readonly [field: string, value: string]>;
  /** Ends every pending call. */
  close(): void;
}
