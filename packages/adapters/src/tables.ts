import type { Field } from './field.js';
import { offsetMs } from './zone.js';

/** Rows of an export's tables, as objects by the names of columns: a reader of CSV may leave all cells texts. */

/** A cell, whose column may stand under a longer name; an empty one is absent. @internal */
export function cell(row: Field, name: string, before = ''): Field {
  const own = row.get(name);
  const found = own.isAbsent ? row.get(`${before}${name}`) : own;
  return found.isText && found.text()?.trim() === '' ? found.as(undefined) : found;
}

/** Milliseconds east of UTC of `UTC+0100`; undefined of an offset that no place has, as some exports hold. @internal */
export function eastOf(offset: Field): number | undefined {
  return offsetMs((offset.text() ?? '').replace(/^UTC/, ''));
}
