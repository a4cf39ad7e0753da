import { KINDS_WITHIN, type ObjectKind } from '#rules/fields.js';
import { meantField } from '#rules/slips.js';
import type { PredictionRequestBody } from './contract.js';

/** The place of a mistyped field, such as "past_sessions.weightKg", and the field that was most likely meant. */
type Slip = Readonly<Record<'path' | 'meant', string>>;

/** The names in `request` that are a typing error away from a field that their object lacks. */
export function* slipsIn(request: PredictionRequestBody): Generator<Slip> {
  yield* slipsOf(request, 'request', '');
  for (const [field, kind] of KINDS_WITHIN)
    for (const object of [request[field as keyof PredictionRequestBody]].flat())
      yield* slipsOf(object, kind, `${field}.`);
}

function* slipsOf(object: unknown, kind: ObjectKind, place: string): Generator<Slip> {
  if (typeof object !== 'object' || object === null) return;
  const fields = object as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(fields)) {
    const meant = fields[name] === undefined ? undefined : meantField(name, kind);
    // Beside the field itself it is another thing, which merely sounds alike.
    if (meant !== undefined && (fields[meant] ?? undefined) === undefined)
      yield { path: place + name, meant };
  }
}

/** Most different warnings of one client; more are no typing errors. */
const WARNED_MAX = 100;

/** Warns by `process.emitWarning`, once for each name of each kind of object; `told` remembers them. */
export function warnOfSlips(request: PredictionRequestBody, told: Set<string>): void {
  for (const { path, meant } of slipsIn(request)) {
    if (told.has(path) || told.size === WARNED_MAX) continue;
    told.add(path);
    const sentence = `${path} is no field that the service knows: it is ignored. Did you mean ${meant}?`;
    process.emitWarning(sentence, { type: 'AcuityWarning', code: 'ACUITY_UNKNOWN_FIELD' });
  }
}
