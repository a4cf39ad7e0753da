/** The connection to a shared store. All calls reject with `KeyStoreError`. */
export interface StoreTransport {
  /** How many connections were opened so far: what `WATCH` watches ends with its connection. */
  readonly connections: number;
  /** Sends one command. */
  send(args: readonly string[]): Promise<unknown>;
  /**
   * Sends commands in one piece; resolves to all replies. With `connection`, rejects unless the connection is still the
   * one of that number.
   */
  sendAll(commands: readonly (readonly string[])[], connection?: number): Promise<readonly unknown[]>;
  /** Every field of a hash, in pieces; fields written meanwhile may be missing or come twice. */
  hash(key: string): AsyncIterable<readonly [field: string, value: string]>;
  /** Ends every pending call. */
  close(): void;
}
