import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Form, Part, Trial } from './part.js';

/**
 * Each fault has its own test; here those tests run again and again, because a fault that crashes the process once in
 * a hundred times usually passes its test.
 */

const ROUNDS: Readonly<Record<Form, number>> = { short: 1, long: 5 };
const FILE_MS = 300_000;

/** Files of test/flow, with the faults they test. */
const FILES: Readonly<Record<string, string>> = {
  faults: 'workers that throw, exit, hang and give no scores; a paused process; a drain that is outlasted',
  hanging: 'full disks, readers of the log that are gone, event loops and files that hang, second signals',
  oddFiles: 'keys, counts and model replaced by pipes, or on a disk that stops answering',
  stopping: 'terminals and readers that go away, idle and busy connections at a stop',
  drain: 'requests in flight at a stop',
  descriptors: 'no file descriptor left',
  readOnly: 'folders that can’t be written',
  keys: 'keys that come and go, files that are broken',
  modelSwitch: 'models that come and go, one of them corrupt',
  clock: 'a clock that jumps by hours and weeks',
};

export const faults: Part = {
  name: 'faults',
  about: 'what goes wrong around the service: the tests of test/flow, again and again',
  beyond: 'processes, signals, files, disks and descriptors',
  async run(_scope, { form, say }) {
    const trials: Trial[] = [];
    for (const [file, what] of Object.entries(FILES)) {
      say(file);
      trials.push(await repeated(file, what, ROUNDS[form]));
    }
    return trials;
  },
};

async function repeated(file: string, what: string, rounds: number): Promise<Trial> {
  let [tried, held] = [0, 0];
  const failures: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const { assertions, passed, failed } = await runTest(file);
    tried += assertions;
    held += passed;
    failures.push(...failed);
  }
  return { what, tried, held, figure: `assertions of test/flow/${file}.test.ts, ${rounds} rounds`, failures };
}

interface TestRun {
  readonly assertions: number;
  readonly passed: number;
  readonly failed: readonly string[];
}

/** Runs a test file on its own; it prints TAP and ends with its counts. */
async function runTest(file: string): Promise<TestRun> {
  const path = fileURLToPath(new URL(`../test/flow/${file}.test.js`, import.meta.url));
  const env = { ...process.env, TAP_TIMEOUT: String(FILE_MS / 1000) };
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const [code] = (await once(child, 'close')) as [number | null];
  const assertions = Number(/total: (\d+)/.exec(text)?.[1] ?? 0);
  const passed = Number(/pass: (\d+)/.exec(text)?.[1] ?? 0);
  const failed = [...text.matchAll(/^ *not ok (.*)$/gm)].map(([, line = '']) => `${file}: ${line}`);
  if (code === 0 && assertions > 0) return { assertions, passed: assertions, failed };
  return { assertions: Math.max(assertions, passed + 1), passed, failed: failed.slice(0, 3) };
}
