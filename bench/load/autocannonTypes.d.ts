/** The part of autocannon that the bench uses; it publishes no types. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  namespace autocannon {
    interface Request {
      readonly method: 'POST';
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
    interface Options {
      readonly url: string;
      readonly connections: number;
      readonly duration: number;
      readonly timeout: number;
      readonly requests: readonly Request[];
    }
    interface Result {
      readonly duration: number;
      readonly errors: number;
      readonly resets: number;
      readonly non2xx: number;
    }
    /** Emits `response` with the client, the status, the bytes and the milliseconds of each answer. */
    type Instance = EventEmitter & PromiseLike<Result>;
  }

  function autocannon(options: autocannon.Options): autocannon.Instance;
  export = autocannon;
}
