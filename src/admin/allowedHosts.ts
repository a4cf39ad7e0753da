import { isIP } from 'node:net';

const LOCALHOST = 'localhost';

/**
 * Whether a request may be answered under the `Host` that it names. A web page can point a name of its own to
 * this machine (DNS rebinding), and its browser then lets it read the answers. It can't do so under an
 * address or a name listed here.
 */
export function allowedHosts(names: readonly string[]): (host: string | undefined) => boolean {
  const allowed = new Set([LOCALHOST, ...names.map(plainName)]);
  return (host) => {
    const name = host === undefined ? '' : plainName(withoutPort(host));
    return name !== '' && (isIP(name) !== 0 || allowed.has(name));
  };
}

/** Makes names comparable: case does not matter, nor does the final dot of the root. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** `name:80` → `name`, `[::1]:80` → `::1`. */
function withoutPort(host: string): string {
  const [, address] = /^\[([^\]]*)\](?::\d*)?$/.exec(host) ?? [];
  return address ?? host.replace(/:\d*$/, '');
}
