import { FORMS, type Form } from '#bench/load/forms.js';
import { bodiesOf, PAYLOADS, type PayloadName } from '#acuity/load/payloads.js';
import { UsageError } from '#bench/usage.js';

/** A payload, or one as callers write it: `history`, `history:pretty`. */
export type BenchPayload = PayloadName | `${PayloadName}:${string}`;

/** As many as the plain payloads have: the forms are for the same people. */
const VARIANTS = 16;

/** The form of the plain payloads; every other form is compared with it. */
const PLAIN = 'tenths';
/** A night at 1 Hz is one session, in any payload. */
const SINGLE = '1hz';

/** Every form worth a measurement, each for the payload that it matters for. */
export const FORM_PAYLOADS: readonly BenchPayload[] = [
  ...formsOf('history').filter(
    (payload) => !payload.endsWith(`:${SINGLE}`) && formOf(payload)?.isOurs !== true,
  ),
  'baseline:scalars-17',
  `baseline:${SINGLE}`,
];

function formsOf(payload: PayloadName): BenchPayload[] {
  return FORMS.filter(({ id }) => id !== PLAIN).map(({ id }) => `${payload}:${id}` as const);
}

/** The payload whose form this is. */
export function baseOf(payload: BenchPayload): PayloadName {
  const [base = ''] = payload.split(':');
  return base as PayloadName; // of the two, by its type
}

/** Undefined for a plain payload. */
export function formOf(payload: BenchPayload): Form | undefined {
  const [, id] = payload.split(':');
  return FORMS.find((form) => form.id === id);
}

/** The texts of its bodies. */
export function textsOf(payload: BenchPayload): readonly string[] {
  return formOf(payload)?.texts(VARIANTS, baseOf(payload)) ?? bodiesOf(baseOf(payload));
}

/** `forms` stands for every form, each after the payload that it is compared with. @throws UsageError */
export function payloadsNamed(given: string | undefined): BenchPayload[] {
  const names = given?.split(',') ?? PAYLOADS;
  const payloads = names.flatMap((name) =>
    name === 'forms' ? [...PAYLOADS, ...FORM_PAYLOADS] : [payloadNamed(name)],
  );
  return [...new Set(payloads)];
}

/** The past of `history` in one field. */
const HISTORY_FIELD: BenchPayload = 'history:field';
/** The same with measurements. */
const HISTORY_MEASURED: BenchPayload = 'history:measured';

function payloadNamed(name: string): BenchPayload {
  if (name === 'history-field') return HISTORY_FIELD;
  if (name === 'history-measured') return HISTORY_MEASURED;
  const known = PAYLOADS.flatMap((payload): BenchPayload[] => [payload, ...formsOf(payload)]);
  const payload = known.find((one) => one === name);
  if (payload === undefined) throw new UsageError(`no payload is called ${name}`);
  return payload;
}
