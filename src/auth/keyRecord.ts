import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { KeyRecord } from './store.js';

const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' });
const Limit = Type.Union([Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }), Type.Null()]);

/** The schema of a `KeyRecord` in every store. */
export const KeyRecordSchema = Type.Object({
  id: Type.String({ minLength: 1 }),
  kind: Type.Union([Type.Literal('demo'), Type.Literal('live')]),
  digest: Type.String({ pattern: '^[\\w-]{43}$' }),
  label: Type.String(),
  createdAt: Time,
  expiresAt: Type.Union([Time, Type.Null()]),
  revokedAt: Type.Union([Time, Type.Null()]),
  ratePerS: Limit,
  dailyMax: Limit,
});

const Record = Compile(KeyRecordSchema);

export function isKeyRecord(value: unknown): value is KeyRecord {
  return Record.Check(value);
}

/** What is wrong with a record, without quoting it; undefined for a valid one. */
export function faultInRecord(value: unknown): string | undefined {
  const [fault] = Record.Errors(value);
  return fault && `${fault.instancePath || 'it'} ${fault.message}`;
}
