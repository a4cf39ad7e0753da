import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { OperatorError } from '../base/operatorError.js';

export interface ParquetTask {
  readonly path: string;
  /** Columns that are wanted, as far as they are there. */
  readonly columns: readonly string[];
}

export interface DecodedBatch {
  /** An Arrow stream of one record batch. */
  readonly ipc: Uint8Array;
  /** Bytes of the file that it stands for. */
  readonly bytesRead: number;
}

/** What the thread is asked for: a file from its beginning, or one batch more of it. */
export type ParquetRequest = ParquetTask | 'next';
/** What it answers to the latter: a batch; undefined behind the last one; or why there is none. */
export type ParquetAnswer = DecodedBatch | { readonly failure: string } | undefined;

/** A Parquet file that can't be read. */
export class ParquetError extends OperatorError {
  override readonly name = 'ParquetError';
}

/** Batches decoded ahead: while one is scored, the next are made. */
const AHEAD = 3;

/**
 * Decodes Parquet files, one after the other, on a thread of its own: that costs more than all else that is done with
 * a row. One thread for all files, since it takes seconds to compile its code well. `close` ends it.
 */
export class ParquetDecoder {
  private thread: Worker | undefined;
  private readonly answers: ParquetAnswer[] = [];
  private failure: unknown;

  /** The batches of a file; only one file at a time, and to its end. */
  async *batches(task: ParquetTask): AsyncGenerator<DecodedBatch, void, undefined> {
    const thread = (this.thread ??= this.start());
    const ask = (request: ParquetRequest): void => thread.postMessage(request);
    ask(task);
    for (let ahead = 0; ahead < AHEAD; ahead++) ask('next');
    let left = AHEAD;
    for (;;) {
      const answer = await this.answer(thread);
      left--;
      if (answer === undefined) break;
      if ('failure' in answer) throw new ParquetError(`the Parquet file can't be read: ${answer.failure}`);
      ask('next');
      left++;
      yield answer;
    }
    while (left-- > 0) await this.answer(thread);
  }

  async close(): Promise<void> {
    await this.thread?.terminate();
    this.thread = undefined;
  }

  private start(): Worker {
    const thread = new Worker(new URL('./parquetThread.js', import.meta.url));
    thread.on('message', (answer: ParquetAnswer) => this.answers.push(answer));
    thread.on('error', (error) => (this.failure = error));
    return thread;
  }

  private async answer(thread: Worker): Promise<ParquetAnswer> {
    while (this.answers.length === 0 && this.failure === undefined) await once(thread, 'message');
    if (this.failure !== undefined) throw this.failure;
    return this.answers.shift();
  }
}
