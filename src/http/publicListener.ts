import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import uWS from 'uWebSockets.js';
import type { Predict } from './predict.js';

/** A listening public server on this thread's event loop. */
export interface PublicListener {
  readonly address: PublicAddress;
  /** Connections open now. */
  readonly connections: number;
  /** Takes no new connections; open ones continue. */
  stopListening(): void;
  /** Ends every connection by force. */
  close(): void;
}

/** A port, or a Unix socket by its path. */
export type PublicAddress =
  | { readonly host: string; readonly port: number; readonly socket?: undefined }
  | { readonly host: null; readonly port: null; readonly socket: string };

export interface ListenOptions {
  readonly address: PublicAddress;
  /** Whether other event loops of this process listen on the same port. */
  readonly isShared: boolean;
  /** The limit of the whole process. */
  readonly limit: ConnectionLimit;
  /** A connection was one too many, and was closed. */
  onRefused(): void;
}

/** At the path of a socket must be nothing. @throws Error if it can't listen on the address */
export function listen(predict: Predict, options: ListenOptions): PublicListener {
  const { address, isShared, limit, onRefused } = options;
  let connections = 0;
  let socket: uWS.us_listen_socket | false = false;
  const app = uWS
    .App()
    .filter((res, change) => {
      connections += Number(change);
      if (change === -1) return limit.closed();
      if (limit.opened()) return;
      onRefused();
      res.close(); // calls this filter again, with −1
    })
    .post('/predict', (res, req) => predict.handle(res, req))
    .any('/predict', (res, req) => predict.methodNotAllowed(res, req))
    .any('/*', (res, req) => predict.notFound(res, req));
  listenOn(app, address, isShared ? 0 : EXCLUSIVE, (listening) => {
    socket = listening;
  });
  if (!socket)
    throw new Error(
      address.socket === undefined
        ? `cannot listen on ${address.host}:${address.port}: the port is taken or the host is not ours`
        : `cannot listen on ${address.socket}`,
    );
  const listening: uWS.us_listen_socket = socket;
  const removePath = address.socket === undefined ? () => undefined : opened(address.socket);
  let isListening = true;
  const stopListening = (): void => {
    if (!isListening) return;
    isListening = false;
    removePath(); // before it is closed: until then no other file has its inode
    uWS.us_listen_socket_close(listening);
  };
  return {
    address:
      address.socket === undefined ? { ...address, port: uWS.us_socket_local_port(listening) } : address,
    get connections() {
      return connections;
    },
    stopListening,
    close() {
      stopListening();
      app.close();
    },
  };
}

/** Without it a second server would silently share the port; the published types lack the constant. */
const EXCLUSIVE = (uWS as unknown as { readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number })
  .LIBUS_LISTEN_EXCLUSIVE_PORT;

type ListenCallback = (listening: uWS.us_listen_socket | false) => void;

/** The overload with both a host and options, which the published types also lack. */
interface HostListener {
  listen(host: string, port: number, options: number, callback: ListenCallback): unknown;
}

function listenOn(
  app: uWS.TemplatedApp,
  { host, port, socket }: PublicAddress,
  options: number,
  callback: ListenCallback,
): void {
  if (socket !== undefined) app.listen_unix(callback, socket);
  else (app as unknown as HostListener).listen(host, port, options, callback);
}

/** The service's user and group may connect. */
const SOCKET_MODE = 0o660;

/** Lets the group connect under any umask. @returns how to remove the path, unless it is another server’s by then */
function opened(path: string): () => void {
  chmodSync(path, SOCKET_MODE);
  const { ino, dev } = lstatSync(path);
  return () => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.ino === ino && found.dev === dev) unlinkSync(path);
  };
}

/** Memory for a `ConnectionLimit`. */
export function allocateConnectionCount(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

/** Bounds the open public connections of the process; the count is shared by its event loops. */
export class ConnectionLimit {
  private readonly count: Int32Array;

  /** Uses memory from `allocateConnectionCount`. */
  constructor(
    memory: SharedArrayBuffer,
    private readonly connectionsMax: number,
  ) {
    this.count = new Int32Array(memory);
  }

  /** Counts a new connection; false if it is one too many. Even then it counts until it is closed. */
  opened(): boolean {
    return Atomics.add(this.count, 0, 1) < this.connectionsMax;
  }

  closed(): void {
    Atomics.sub(this.count, 0, 1);
  }
}
