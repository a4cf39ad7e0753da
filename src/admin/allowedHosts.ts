import { isIP } from 'node:net';

const LOCALHOST = 'localhost';

/**
 * Whether a request may be answered under the `Host` that it names. A web page can have a name of its own lead to this
 * machine (DNS rebinding), and its browser then lets it read the answers; under an address, or a name that we know,
 * it can't.
 */
export function allowedHosts(names: readonly string[]): (host: string | undefined) => boolean {
  const allowed = new Set([LOCALHOST, ...names.map(plainName)]);
  return (host) => {
    const name = host === undefined ? '' : plainName(withoutPort(host));
    return name !== '' && (isIP(name) !== 0 || allowed.has(name));
  };
}

/** Names are the same in any case, with or without the dot of the root. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** `name:80` → `name`, `[::1]:80` → `::1`. */
function withoutPort(host: string): string {
  const [, address] = /^\[([^\]]*)\](?::\d*)?$/.exec(host) ?? [];
  return address ?? host.replace(/:\d*$/, '');
}
