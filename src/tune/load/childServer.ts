/** Starts a server as a child process, and stops it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How to start a server that prints `{"event":"listening","port":N}` (or `"socket":PATH`) as a line on its standard output. */
export interface ServerCommand {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ChildServer {
  readonly port: number;
  /** The path of the Unix socket that it listens on in the place of a port. */
  readonly socket: string | undefined;
  /** Undefined if the server has no admin listener. */
  readonly adminPort: number | undefined;
  readonly pid: number;
  /** Resolves when the process has exited, for any reason. */
  readonly ended: Promise<unknown>;
  /** Resolves when the process has exited. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 30_000;
const READY_POLL_MS = 20;
/** A server that does not exit in this time after SIGTERM is killed. */
const STOP_WITHIN_MS = 5_000;
const FIRST_WORDS_LENGTH = 1_000;

/**
 * Starts a server and waits for its ready line. Its output goes to files in `folder`, as a service's would: a pipe
 * would cost this process a wake-up for each line. The server never outlives this process if that ends by `exit`.
 * @throws Error if it exits, or is not ready in time
 */
export async function startChildServer(
  command: ServerCommand,
  folder: string,
  readyWithinMs: number = READY_WITHIN_MS,
): Promise<ChildServer> {
  const output = join(folder, `${command.name}.out`);
  const errors = join(folder, `${command.name}.err`);
  const child = spawnInto(command, output, errors);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    const address = await ready(child, command.name, { output, errors }, readyWithinMs);
    return { ...address, ended, stop: () => stopChild(child) };
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
    child.on('error', () => undefined); // reported by `ready`, which finds no pid
    const kill = (): void => void child.kill('SIGKILL');
    process.on('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    return child;
  } finally {
    closeSync(stdout);
    closeSync(stderr);
  }
}

async function ready(
  child: ChildProcess,
  name: string,
  files: { readonly output: string; readonly errors: string },
  withinMs: number,
): Promise<Omit<ChildServer, 'ended' | 'stop'>> {
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} could not be started`);
  const endMs = performance.now() + withinMs;
  while (performance.now() < endMs) {
    const { port, socket, adminPort } = addressIn(readFileSync(files.output, 'utf8')) ?? {};
    if (port !== undefined) return { pid, port, socket, adminPort };
    if (hasLeft(child)) throw new Error(`${name} left before it was ready: ${firstWords(files.errors)}`);
    await sleep(READY_POLL_MS);
  }
  throw new Error(`${name} was not ready within ${Math.round(withinMs / 1000)} s`);
}

type Announced = Pick<ChildServer, 'port'> & Partial<Pick<ChildServer, 'socket' | 'adminPort'>>;

/** The port is null beside a socket. */
function addressIn(output: string): Announced | undefined {
  const line = /^\{"event":"listening".*\}$/m.exec(output)?.[0];
  return line === undefined ? undefined : (JSON.parse(line) as Announced);
}

/** The first output of a server that exited. */
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
