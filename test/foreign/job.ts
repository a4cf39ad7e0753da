import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

/** What the callers in Node share: a case for them is a line on standard input. See test/fixtures/foreign.ts. */
export interface Job {
  readonly isKept: boolean;
  readonly way: string;
  /** The connection is dropped before the answer. */
  readonly isDropped: boolean;
  readonly bodies: readonly Buffer[];
}

export const PAUSE_MS = 5;
export const TIMEOUT_MS = 20_000;
const PIECES = 4;

export async function* pieces(body: Buffer): AsyncGenerator<Uint8Array> {
  const size = Math.ceil(body.length / PIECES);
  for (let start = 0; start < body.length; start += size) {
    await pause(PAUSE_MS);
    yield body.subarray(start, start + size);
  }
}

function jobOf(line: string): Job {
  const [connection = '', way = '', times = '', ...paths] = line.split(' ');
  const once = paths.map((path) => readFileSync(path));
  return {
    isKept: connection === 'kept',
    way,
    isDropped: way === 'cut' || way === 'left',
    bodies: Array.from({ length: Number(times) }, () => once).flat(),
  };
}

/** Runs one case after the other; `report` takes the status and the body of each answer. */
export async function serveCases(
  run: (job: Job, report: (answer: string) => void) => Promise<void>,
): Promise<void> {
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    await run(jobOf(line), print);
    print('end');
  }
}
