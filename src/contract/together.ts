import {
  FIELD_NAMES,
  PAST_MAX,
  PERSON_FIELDS,
  RECORDING_FIELD,
  SERIES_ALIASES,
  TARGETS_ALIAS,
} from '#rules/fields.js';

/**
 * Which fields of a request need or exclude each other, as JSON Schema, for callers' validators. The reader checks the
 * same in code, which words its refusals. No `allOf` or `anyOf` stands beside the fields: generators of clients would
 * make other types of it.
 */

interface Rule {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, object>>;
  readonly anyOf?: readonly Rule[];
}

/** Absent, `null` or without length, which binds lists and strings alone. */
const empty = (...fields: readonly string[]): Rule => ({
  properties: Object.fromEntries(fields.map((field) => [field, { maxItems: 0, maxLength: 0 }])),
});

const given = (fields: Readonly<Record<string, object>>): Rule => ({
  required: Object.keys(fields),
  properties: fields,
});

const PAST = 'past_sessions';
const TARGETS = 'past_targets';

/** Equal numbers of sessions and targets, these under one of their two names. */
const pairsOf = (length: number): Rule => {
  const list = { type: 'array', minItems: length, maxItems: length };
  const none = { maxItems: 0 };
  return {
    ...given({ [PAST]: list }),
    anyOf: [
      { required: [TARGETS], properties: { [TARGETS]: list, [TARGETS_ALIAS]: none } },
      { required: [TARGETS_ALIAS], properties: { [TARGETS_ALIAS]: list, [TARGETS]: none } },
    ],
  };
};

export const REQUEST_RULES = {
  if: empty(PAST, TARGETS, TARGETS_ALIAS),
  else: { anyOf: Array.from({ length: PAST_MAX }, (_, index) => pairsOf(1 + index)) },
  dependentSchemas: {
    [PAST]: { properties: { [PAST]: { items: { properties: { [RECORDING_FIELD]: { type: 'null' } } } } } },
    history: { anyOf: [empty('history'), empty(PAST, TARGETS, TARGETS_ALIAS)] },
    measurements: {
      anyOf: [empty('measurements'), given({ history: { type: 'string' }, night: { type: 'string' } })],
    },
  },
};

const RAW_FORMS = ['answers', 'reactions_ms', 'result'];

/** The name of a test with one form of its result, or both others. */
export const MEASURED_RULES = {
  if: { required: ['test'] },
  else: { required: ['score', 'value'] },
  dependentRequired: Object.fromEntries(RAW_FORMS.map((form) => [form, ['test']])),
  dependentSchemas: {
    test: { oneOf: RAW_FORMS.map((form) => ({ required: [form] })), not: { required: ['value'] } },
  },
};

/** A recording stands in place of these. */
const REPLACED = FIELD_NAMES.session.filter(
  (name) => ![...PERSON_FIELDS, RECORDING_FIELD].some((other) => other === name),
);
const ABSENT = { type: ['null', 'array'], maxItems: 0 };

export const SESSION_RULES = {
  dependentSchemas: {
    ...Object.fromEntries(
      Object.entries(SERIES_ALIASES).map(([name, alias]) => [alias, { anyOf: [empty(alias), empty(name)] }]),
    ),
    [RECORDING_FIELD]: {
      anyOf: [
        { properties: { [RECORDING_FIELD]: { type: 'null' } } },
        { properties: Object.fromEntries(REPLACED.map((name) => [name, ABSENT])) },
      ],
    },
  },
};
