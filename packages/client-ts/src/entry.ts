/** What `acuity-client` publishes, and the server's package as `acuity/client`: the one file that only passes on, because it is the way in. */
export type { Prediction } from './answer.js';
export { AcuityClient, type AcuityClientOptions, type RetryReport } from './client.js';
export type * from './contract.js';
export * from './errors.js';
export {
  History,
  HistoryContendedError,
  memoryStorage,
  type HistoryOptions,
  type HistoryStorage,
} from './history.js';
export type { Outcome, PredictManyOptions, Requests } from './lists.js';
export type { PredictOptions, RetryOptions } from './retry.js';
export { NodeTransport, type AnswerHead, type Incoming, type Outgoing, type Transport } from './transport.js';
