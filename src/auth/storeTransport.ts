/** The way to a shared store. All calls reject with `KeyStoreError`. */
export interface StoreTransport {
  /** Sends one command. */
  send(args: readonly string[]): Promise<unknown>;
  /** Runs a script in one step. */
  run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Every field of a hash; what is written meanwhile may be among them or not. */
  hash(key: string): AsyncIterable<readonly [field: string, value: string]>;
  /** Ends every call under way. */
  close(): void;
}
