/** What the package publishes as `acuity/client`: the one file that only passes on, because it is the way in. */
export {
  AcuityClient,
  type AcuityClientOptions,
  type AttemptReport,
  type ClientHooks,
  type Prediction,
  type PredictOptions,
  type RetryReport,
} from './client.js';
export {
  AcuityError,
  ConnectionError,
  InvalidRequestError,
  KeyMissingError,
  KeyRejectedError,
  MalformedRequestError,
  OverloadedError,
  RateLimitedError,
  RefusedError,
  RequestTooLargeError,
  ServiceError,
  TimeoutError,
  UnexpectedAnswerError,
  UnsupportedMediaTypeError,
  WrongAddressError,
} from './errors.js';
export { History, memoryStorage, type HistoryEntry, type HistoryStorage } from './history.js';
export type { Moment } from './moment.js';
export type { Person } from './person.js';
export type { RetryOptions } from './retry.js';
export { SessionBuilder, type Sample } from './sessionBuilder.js';
export type { Stage, StageDurations, StageInterval } from './sleep.js';
export { UnitError } from './unitChecks.js';
export type { PredictionRequestBody, ScoreRecord, Session } from '../contract/request.js';
export type { Finding } from '../contract/problems.js';
