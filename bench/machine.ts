import { cpus } from 'node:os';

/** "2 × its processor, Node 20.20.2": figures hold for the machine that they were measured on. */
export function machine(): string {
  return `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}`;
}
