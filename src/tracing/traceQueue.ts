import type { TracedRequest } from './tracedRequest.js';

/** Most traced requests in transit from one event loop to the main thread; more are dropped. */
const UNREAD_MAX = 4096;

/** The number of messages that the main thread has not read yet, shared with an event loop. */
export class TraceQueue {
  private readonly unread: Int32Array;

  constructor(readonly memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.unread = new Int32Array(memory);
  }

  /** Sends by `post`; false, without sending, if too many wait already. */
  send(request: TracedRequest, post: (request: TracedRequest) => void): boolean {
    if (Atomics.load(this.unread, 0) >= UNREAD_MAX) return false;
    Atomics.add(this.unread, 0, 1);
    post(request);
    return true;
  }

  /** Call when one was read. */
  received(): void {
    Atomics.sub(this.unread, 0, 1);
  }
}
