/** The stored record of a key, and the errors of its store. */
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { isOnCalendar } from '../base/days.js';
import { OperatorError } from '../base/errors.js';
import { systemReason } from '../base/files/fileError.js';
import { FileLockError } from '../base/files/fileLock.js';

const Time = Type.Refine(
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' }),
  (text) => isOnCalendar(text) && !Number.isNaN(Date.parse(text)),
  () => 'must be a time that there is',
);
const Limit = Type.Union([Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }), Type.Null()]);
const Schema = Type.Object({
  /** Identifies the key to operators, in logs and in metrics. Not a secret. */
  id: Type.String({ minLength: 1 }),
  kind: Type.Union([Type.Literal('demo'), Type.Literal('live')]),
  /** SHA-256 of the key, base64url. */
  digest: Type.String({ pattern: '^[\\w-]{43}$' }),
  label: Type.String(),
  createdAt: Time,
  /** `null`: never. */
  expiresAt: Type.Union([Time, Type.Null()]),
  /** `null`: not revoked. */
  revokedAt: Type.Union([Time, Type.Null()]),
  /** Requests per second in the long run; `null`: unlimited. */
  ratePerS: Limit,
  /** Answers with 200 in a UTC day; `null`: unlimited. */
  dailyMax: Limit,
});
const Records = Compile(Type.Array(Schema));

/** A key as it is stored: never the key itself. Times are ISO 8601 in UTC. */
export type KeyRecord = Readonly<Type.Static<typeof Schema>>;

export function areRecords(value: unknown): value is readonly KeyRecord[] {
  return Records.Check(value);
}

/** The fault of a store's records, without quoting them; undefined if they are sound. */
export function faultIn(value: unknown): string | undefined {
  if (!areRecords(value)) {
    const [fault] = Records.Errors(value);
    return `keys${fault?.instancePath ?? ''} ${fault?.message ?? 'are invalid'}`;
  }
  const ids = new Set(value.map(({ id }) => id));
  const digests = new Set(value.map(({ digest }) => digest));
  return ids.size < value.length || digests.size < value.length ? 'it holds a key twice' : undefined;
}

/** An operating error of the store, worded for the operator in one line. Never contains a key. */
export class KeyStoreError extends OperatorError {}

/** A shared store has lost all keys, or says nothing of their last change: that is no answer, keep the keys. */
export class EmptyStoreError extends KeyStoreError {}

/** The shared store is a replica, or takes no writes at the moment for another reason. */
export class ReadOnlyStoreError extends KeyStoreError {}

/** Rewords a system error for the operator; returns any other error unchanged. */
export function storeError(action: string, error: unknown): unknown {
  if (error instanceof FileLockError) return new KeyStoreError(error.message, { cause: error });
  const reason = systemReason(error);
  return reason === undefined ? error : new KeyStoreError(`can't ${action}: ${reason}`, { cause: error });
}
