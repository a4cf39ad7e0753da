import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicrosOf, rssBytesOf } from './usage.js';

/** How to start a server that prints `{"event":"listening","port":N}` as a line of its standard output. */
export interface ServerCommand {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface ServerProcess {
  readonly port: number;
  readonly pid: number;
  /** Processor time of all its threads so far, in microseconds. */
  cpuMicros(): number;
  rssBytes(): number;
  /** Resolves when the process has left. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 30_000;
const READY_POLL_MS = 20;
/** A server that does not leave when asked is made to. */
const STOP_WITHIN_MS = 5_000;
const FIRST_WORDS_LENGTH = 1_000;

const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/**
 * Starts a server and waits for its ready line. Its output goes to files in `folder`, as that of a service would:
 * a pipe would cost us a wake-up for each line.
 * @throws Error where it leaves or is not ready in time
 */
export async function startServer(command: ServerCommand, folder: string): Promise<ServerProcess> {
  const output = join(folder, `${command.name}.out`);
  const child = spawnInto(command, output, join(folder, `${command.name}.err`));
  try {
    const { pid, port } = await ready(child, command.name, output, join(folder, `${command.name}.err`));
    return {
      pid,
      port,
      cpuMicros: () => cpuMicrosOf(pid),
      rssBytes: () => rssBytesOf(pid),
      stop: () => stopChild(child),
    };
  } catch (error) {
    await stopChild(child);
    throw error;
  }
}

function spawnInto({ file, args, env }: ServerCommand, output: string, errors: string): ChildProcess {
  const stdout = openSync(output, 'w');
  const stderr = openSync(errors, 'w');
  try {
    const child = spawn(file, args, { env, stdio: ['ignore', stdout, stderr] });
    child.on('error', () => undefined); // told by `ready`, which finds no pid
    alive.add(child);
    child.once('exit', () => alive.delete(child));
    return child;
  } finally {
    closeSync(stdout);
    closeSync(stderr);
  }
}

async function ready(
  child: ChildProcess,
  name: string,
  output: string,
  errors: string,
): Promise<{ pid: number; port: number }> {
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} could not be started`);
  for (let waitedMs = 0; waitedMs < READY_WITHIN_MS; waitedMs += READY_POLL_MS) {
    const port = listeningPort(readFileSync(output, 'utf8'));
    if (port !== undefined) return { pid, port };
    if (hasLeft(child)) throw new Error(`${name} left before it was ready: ${firstWords(errors)}`);
    await sleep(READY_POLL_MS);
  }
  throw new Error(`${name} was not ready within ${READY_WITHIN_MS / 1000} s`);
}

function listeningPort(output: string): number | undefined {
  const line = /^\{"event":"listening".*\}$/m.exec(output)?.[0];
  return line === undefined ? undefined : (JSON.parse(line) as { port: number }).port;
}

/** What a server said before it left. */
function firstWords(path: string): string {
  return readFileSync(path, 'utf8').slice(0, FIRST_WORDS_LENGTH).trim();
}

function hasLeft(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasLeft(child)) return;
  const left = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  child.kill('SIGTERM');
  await left;
  clearTimeout(timer);
}
