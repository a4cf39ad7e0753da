/** Calls to another thread: each carries a port of its own for its one answer. */
import { once } from 'node:events';
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { errorOf, plainError, type PlainError } from './errors.js';

export interface Call<Asked> {
  readonly asked: Asked;
  readonly answer: MessagePort;
}

interface Answer<Value> {
  readonly value: Value;
  readonly error?: PlainError;
}

/** Resolves or rejects as the work of the other thread does; never settles if that thread ends first. */
export async function call<Value>(thread: MessagePort | Worker, asked: unknown): Promise<Value> {
  const { port1, port2 } = new MessageChannel();
  thread.postMessage({ asked, answer: port2 } satisfies Call<unknown>, [port2]);
  const answered = once(port1, 'message');
  port1.unref(); // the thread keeps the process alive, not the wait for it
  const [{ value, error }] = (await answered) as [Answer<Value>];
  if (error !== undefined) throw errorOf(error);
  return value;
}

/** Does what is asked, and answers with the value or the error. Never rejects. */
export async function answer<Asked>(
  { asked, answer: port }: Call<Asked>,
  work: (asked: Asked) => unknown,
): Promise<void> {
  try {
    port.postMessage({ value: await work(asked) });
  } catch (error) {
    port.postMessage({ error: plainError(error) });
  }
  port.close();
}
