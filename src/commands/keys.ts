import type { Command } from 'commander';

/** Adds `keys issue|list|renew|revoke|rotate`. `keysLocation` is asked when one of them runs. */
export function registerKeys(program: Command, _keysLocation: () => string): void {
  program.command('keys').description('issue, list, renew, revoke and rotate API keys');
}

/** Makes the key store with one demo key in it. `undefined` where there is a store already. */
export function issueFirstDemoKey(_location: string): Promise<{ id: string; key: string } | undefined> {
  return Promise.reject(new Error('not written yet'));
}
