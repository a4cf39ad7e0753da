/**
 * Long buffers of an event loop, used again and again: a new one costs its zeros, and V8 collects the whole heap after
 * some dozens of them. Bodies of others stay in them beyond what is written, so read no more than was written.
 */
export class BodyBuffers {
  /** Oldest first. */
  private readonly free: Uint8Array[] = [];
  private bytes = 0;
  private wasUsed = false;
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly keptMax: number = KEPT_BYTES_MAX,
    private readonly idleMs: number = IDLE_MS,
  ) {}

  /** Memory kept for later, in bytes. */
  get keptBytes(): number {
    return this.bytes;
  }

  /** A buffer of at least `bytes`; its content is undefined. */
  take(bytes: number): Uint8Array {
    if (bytes < REUSED_FROM_BYTES) return new Uint8Array(bytes);
    const wanted = Math.ceil(bytes / STEP_BYTES) * STEP_BYTES;
    const at = this.free.findLastIndex(({ length }) => length >= wanted && length <= wanted * SLACK);
    const [buffer] = at === -1 ? [] : this.free.splice(at, 1);
    if (buffer === undefined) return Buffer.allocUnsafeSlow(wanted);
    this.bytes -= buffer.length;
    return buffer;
  }

  /** Takes back a buffer of `take` that nothing reads any more: call it once. */
  give(buffer: Uint8Array): void {
    if (buffer.length < REUSED_FROM_BYTES) return;
    this.free.push(buffer);
    this.bytes += buffer.length;
    this.wasUsed = true;
    this.idleTimer ??= setInterval(() => this.releaseIdle(), this.idleMs).unref();
    while (this.bytes > this.keptMax) this.bytes -= this.free.shift()?.length ?? 0;
  }

  private releaseIdle(): void {
    if (this.wasUsed) {
      this.wasUsed = false;
      return;
    }
    clearInterval(this.idleTimer);
    this.idleTimer = undefined;
    // Dropped alone, they would stay until V8 collects its whole heap, which an idle loop may not do for hours.
    for (const { buffer } of this.free.splice(0)) NOWHERE.postMessage(undefined, [buffer as ArrayBuffer]);
    this.bytes = 0;
  }
}

/** Shorter ones are cheap to allocate. */
const REUSED_FROM_BYTES = 65_536;
/** Sizes are multiples of this, so that bodies of similar lengths share buffers. */
const STEP_BYTES = 65_536;
/** Memory that an event loop keeps for later bodies. */
const KEPT_BYTES_MAX = 16_777_216;
/** A buffer is at most this much longer than asked for. */
const SLACK = 1.25;
/** Kept buffers are released once no long body has come for this long, or up to twice as long. */
const IDLE_MS = 10_000;

/** A port whose other end is closed: what is transferred to it is freed at once. */
const { port1: NOWHERE, port2: CLOSED } = new MessageChannel();
CLOSED.close();
