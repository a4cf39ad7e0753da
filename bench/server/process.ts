import { startChildServer, type ChildServer, type ServerCommand } from '#acuity/load/childServer.js';
import { cpuMicrosOf, mainThreadCpuMicrosOf, rssBytesOf } from './usage.js';

export interface ServerProcess extends ChildServer {
  /** Processor time of all its threads so far, in microseconds. */
  cpuMicros(): number;
  /** Of its first thread alone: with one event loop, that loop. */
  mainThreadCpuMicros(): number;
  rssBytes(): number;
}

/**
 * Starts a server whose processor time and memory can be read.
 * @throws Error if it exits, or is not ready in time
 */
export async function startServer(command: ServerCommand, folder: string): Promise<ServerProcess> {
  const server = await startChildServer(command, folder);
  const { pid } = server;
  return {
    ...server,
    cpuMicros: () => cpuMicrosOf(pid),
    mainThreadCpuMicros: () => mainThreadCpuMicrosOf(pid),
    rssBytes: () => rssBytesOf(pid),
  };
}
