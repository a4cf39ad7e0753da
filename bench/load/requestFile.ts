import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Load } from '#acuity/load/measurement.js';

/**
 * Writes what a load generator of another language sends, and removes it when that has ended: a line with the key (not
 * an argument: those are seen in the list of processes), one with the lengths of the bodies in bytes, then the bodies.
 */
export async function withRequestFile<Outcome>(
  { target, bodies }: Pick<Load, 'target' | 'bodies'>,
  generate: (file: string) => Promise<Outcome>,
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'acuity-load-'));
  try {
    const file = join(folder, 'requests');
    const lengths = bodies.map((body) => Buffer.byteLength(body));
    await writeFile(file, [target.key, lengths.join(' '), bodies.join('')].join('\n'), { mode: 0o600 });
    return await generate(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
