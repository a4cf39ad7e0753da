import { isDoubtful } from './doubts';
import { RECORD_LENGTH } from './layout';
import { areFinite, forgetBreathing, isBreathingFast, summarise } from './series';

/**
 * Table columns, one at a time: one call for some hundred lists, because a call for each would cost more than the
 * list itself. Rows that are not clearly valid are marked, in one byte per row, for the exact path to decide.
 */

/**
 * Summarises the lists of a series into the records that begin at `records`, one per row; `summary` is the offset in
 * a record. List i is the `lengths[i]` floats (i32; 0 for none) from index `starts[i]` (i32) of `values` on, after the
 * end of the one before. The last list comes first: summarising writes over what follows.
 */
export function summariseLists(
  rows: i32,
  values: usize,
  starts: usize,
  lengths: usize,
  isHeart: bool,
  records: usize,
  summary: i32,
  marks: usize,
): void {
  let into = records + (<usize>(rows * RECORD_LENGTH + summary) << 3);
  for (let row = rows - 1; row >= 0; row--) {
    into -= <usize>RECORD_LENGTH << 3;
    const at = <usize>row << 2;
    const length = load<i32>(lengths + at);
    if (length == 0) continue;
    const samples = values + (<usize>load<i32>(starts + at) << 2);
    forgetBreathing();
    const areClear = summarise(samples, length, isHeart, into) || areFinite(samples, length);
    if (!areClear || isBreathingFast) store<u8>(marks + <usize>row, 1);
  }
}

/** Marks the records, one per row, that are `isDoubtful`. */
export function markDoubtful(rows: i32, records: usize, marks: usize): void {
  forgetBreathing(); // it is marked already
  for (let row = 0; row < rows; row++) {
    if (isDoubtful(records + <usize>(row * RECORD_LENGTH) * 8)) store<u8>(marks + <usize>row, 1);
  }
}
