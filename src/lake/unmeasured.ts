import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';

/** Prefix of the seven columns without measurements, if rows may have any. */
export const UNMEASURED_PREFIX = 'unmeasured_';
export const UNMEASURED_NAMES: readonly string[] = [...SCORE_FIELDS, ...LABEL_FIELDS].map(
  (field) => UNMEASURED_PREFIX + field,
);
