import type { Config } from '../config/options.js';

export interface ServeHooks {
  /** Called once the public listener accepts connections. */
  onListening?(address: { readonly host: string; readonly port: number }): void;
}

export async function serve(_config: Config, _hooks?: ServeHooks): Promise<void> {
  throw new Error('serve is not written yet');
}
