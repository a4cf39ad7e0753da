import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';

/** Of the columns that have the seven fields without measurements, where rows may have any. */
export const UNMEASURED_PREFIX = 'unmeasured_';
export const UNMEASURED_NAMES: readonly string[] = [...SCORE_FIELDS, ...LABEL_FIELDS].map(
  (field) => UNMEASURED_PREFIX + field,
);
