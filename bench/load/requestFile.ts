import { writeFile } from 'node:fs/promises';

/**
 * Writes what a load generator of another language sends: a line with the key (not an argument: those are seen in the
 * list of processes), one with the lengths of the bodies in bytes, then the bodies.
 */
export function writeRequests(file: string, key: string, bodies: readonly string[]): Promise<void> {
  const lengths = bodies.map((body) => Buffer.byteLength(body));
  return writeFile(file, [key, lengths.join(' '), bodies.join('')].join('\n'), { mode: 0o600 });
}
