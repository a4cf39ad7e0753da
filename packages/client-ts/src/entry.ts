/** What `acuity-client` publishes, and the server's package as `acuity/client`: the one file that only passes on, because it is the way in. */
export type { IgnoredMeasurement, Prediction } from './answer.js';
export {
  AcuityClient,
  type AcuityClientOptions,
  type AttemptReport,
  type ClientHooks,
  type PredictOptions,
  type RetryReport,
} from './client.js';
export {
  describeScore,
  type ExplainedScoreName,
  type ScoreChart,
  type ScoreDescription,
} from './describeScore.js';
export {
  AcuityError,
  ConnectionError,
  HistoryInvalidError,
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
export type { FieldWarning } from './fieldNames.js';
export type { FormerEntry } from './formerHistory.js';
export {
  History,
  HistoryContendedError,
  memoryStorage,
  type HistoryOptions,
  type HistoryStorage,
  type StoredHistory,
} from './history.js';
export type { Outcome, PredictManyOptions, Requests } from './lists.js';
export { NORMS, percentileOf, pss10Sum, vigilanceSpeed, type Tested } from './norms.js';
export type { Norm } from './norm.js';
export type { NormName } from './normTables.js';
export type { Moment } from '#rules/moment.js';
export type { Person } from '#adapters/person.js';
export type { RetryOptions } from './retry.js';
export { SessionBuilder, type Sample } from '#adapters/sessionBuilder.js';
export type { Stage, StageDurations, StageInterval } from '#adapters/sleep.js';
export { UnitError } from '#adapters/unitChecks.js';
export type { UnitWarning } from './unitWarnings.js';
export type {
  ExplainedScore,
  Explanation,
  Finding,
  Measurement,
  PredictionRequestBody,
  ScoreRecord,
  Session,
} from './contract.js';
export type {
  AnswerHead,
  Incoming,
  OpenTransport,
  Outgoing,
  Transport,
  TransportOptions,
} from './transport.js';
