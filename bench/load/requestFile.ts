import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Load } from '#acuity/load/measurement.js';

/**
 * Writes the input of a load generator in another language, and removes it when that has ended: a line with the key
 * (not passed as an argument, because the process list shows those), one with the lengths of the bodies in bytes,
 * then the bodies.
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
