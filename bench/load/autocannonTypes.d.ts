/** The part of autocannon that the bench uses; it publishes no types. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  interface Options {
    readonly url: string;
    readonly socketPath?: string;
    readonly connections: number;
    readonly duration: number;
    readonly timeout: number;
    readonly requests: readonly Readonly<
      Record<'method' | 'path' | 'body', string> & Record<'headers', object>
    >[];
  }
  type Result = Readonly<Record<'duration' | 'errors' | 'resets' | 'non2xx', number>>;

  /** Emits `response` with the client, the status, the bytes and the milliseconds of each answer. */
  export default function autocannon(options: Options): EventEmitter & PromiseLike<Result>;
}
