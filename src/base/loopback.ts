import { isIP } from 'node:net';

/** Whether only this machine reaches what listens there: an address, or `localhost`. */
export function isLoopback(host: string): boolean {
  const address = host.toLowerCase().replace(/^::ffff:/, '');
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || address === 'localhost';
}
