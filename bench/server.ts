import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { digestOf } from '#acuity/auth/key.js';
import { startChildServer, type ChildServer, type ServerCommand } from '#acuity/tune/load/childServer.js';
import type { Target } from '#acuity/tune/load/connection.js';
import { SERVICE_ENTRY } from './paths.js';

/** The servers that are measured: started, with one key for all, and watched from outside. */

/** A server that is measured. */
export interface Peer {
  readonly name: string;
  readonly what: string;
  /** Whether it returns scores, which are then checked; the floor returns a constant. */
  readonly scores: boolean;
  command(key: BenchKey): ServerCommand;
  /** Why it can't run here; undefined if it can. */
  readonly unavailable?: string | undefined;
}

export interface ServerProcess extends ChildServer {
  /** Processor time, user and system, of all its threads and living children so far, in microseconds. */
  cpuMicros(): number;
  rssBytes(): number;
}

/** A server and how to send it requests. */
export interface RunningPeer {
  readonly peer: Peer;
  readonly server: ServerProcess;
  readonly target: Target;
}

/** A key for the length of a bench. */
export interface BenchKey {
  readonly key: string;
  /** SHA-256 of the key, base64url: the peers get only this. */
  readonly digest: string;
  /** Where the service finds it. */
  readonly location: string;
  /** For sockets. */
  readonly folder: string;
}

/** The same by a Unix socket: the service's variable, and the one of the others. */
export function bySocket(peer: Peer): Peer {
  const command = (key: BenchKey): ServerCommand => {
    const { env, ...rest } = peer.command(key);
    const path = join(key.folder, `${peer.name}.sock`);
    return {
      ...rest,
      name: `${peer.name}${BY_SOCKET}`,
      env: { ...env, ACUITY_SOCKET: path, BENCH_SOCKET: path },
    };
  };
  return { ...peer, name: `${peer.name}${BY_SOCKET}`, command };
}

export const BY_SOCKET = ' by socket';

/** Starts the peers, one key for all; stops them all when `use` is over. */
export async function withPeers<Outcome>(
  peers: readonly Peer[],
  use: (running: readonly RunningPeer[]) => Promise<Outcome>,
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'acuity-bench-'));
  const running: RunningPeer[] = [];
  try {
    const key = await issueKey(folder);
    for (const peer of peers) {
      const server = await startServer(peer.command(key), folder);
      running.push({ peer, server, target: { port: server.port, socket: server.socket, key: key.key } });
    }
    return await use(running);
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()));
    await rm(folder, { recursive: true });
  }
}

/**
 * Starts a server whose processor time and memory can be read.
 * @throws Error if it exits, or is not ready in time
 */
export async function startServer(command: ServerCommand, folder: string): Promise<ServerProcess> {
  const server = await startChildServer(command, folder);
  return {
    ...server,
    cpuMicros: () => treeMicrosOf(server.pid),
    rssBytes: () => kibibytesIn(server.pid, 'VmRSS') * 1024,
  };
}

/** Lets the service itself issue a live key without limits, into a store in `folder`. */
export async function issueKey(folder: string): Promise<BenchKey> {
  const location = `file:${join(folder, 'keys.json')}`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [SERVICE_ENTRY, 'keys', 'issue', '--kind', 'live', '--rate', 'unlimited', '--json'],
    { env: plainEnvironment({ ACUITY_KEYS: location }) },
  );
  const { key } = JSON.parse(stdout) as { key: string };
  return { key, digest: digestOf(key).toString('base64url'), location, folder };
}

/** This environment without variables that would change a server: every server starts from its defaults. */
export function plainEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(ACUITY_|BENCH_|PORT$|NODE_OPTIONS$|NODE_V8_COVERAGE$|TAP|_TAP|npm_)/.test(name),
  );
  return { ...Object.fromEntries(inherited), ...more };
}

/** Linux counts processor time in ticks of a hundredth of a second, independent of the kernel's own clock (proc(5)). */
const MICROS_PER_TICK = 10_000;
/** Fields of /proc/<pid>/stat after the command's name, which may contain spaces. */
const [UTIME, STIME] = [11, 12];

export function cpuMicrosOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[UTIME]) + Number(fields[STIME])) * MICROS_PER_TICK;
}

/** The same with its children, and theirs: recordings are read in a process of their own. */
function treeMicrosOf(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return children.reduce((sum, child) => sum + treeMicrosOf(Number(child)), cpuMicrosOf(pid));
}

/** Memory of a process: what it has (`VmRSS`), or the most that it had (`VmHWM`); NaN once it has ended. */
export function kibibytesIn(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? NaN);
}
