import { isDoubtful } from './doubts';
import { RECORD_LENGTH, SAMPLES } from './layout';
import { areFinite, forgetBreathing, isBreathingFast, summarise } from './series';

/**
 * Table columns, one at a time: one call for some hundred lists, because a call for each would cost more than the
 * list itself. Rows that are not clearly valid are marked, in one byte per row, for the exact path to decide.
 */

/**
 * Summarises the lists of a series into the records that begin at `records`, one per row; `summary` is the offset in
 * a record. List i is the `lengths[i]` floats (i32; 0 for none) from index `starts[i]` (i32) of `values` on.
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
  let into = records + (<usize>summary << 3);
  for (let row = 0; row < rows; row++, into += <usize>RECORD_LENGTH << 3) {
    const at = <usize>row << 2;
    const length = load<i32>(lengths + at);
    if (length == 0) continue;
    // Summarising pads the samples after their end, where the next row's list is, so copy them.
    memory.copy(SAMPLES, values + (<usize>load<i32>(starts + at) << 2), <usize>length << 2);
    if (!areFinite(length)) {
      store<u8>(marks + <usize>row, 1);
      continue;
    }
    forgetBreathing();
    summarise(length, isHeart, into);
    if (isBreathingFast) store<u8>(marks + <usize>row, 1);
  }
}

/** Marks the records, one per row, that are `isDoubtful`. */
export function markDoubtful(rows: i32, records: usize, marks: usize): void {
  forgetBreathing(); // it is marked already
  for (let row = 0; row < rows; row++) {
    if (isDoubtful(records + <usize>(row * RECORD_LENGTH) * 8)) store<u8>(marks + <usize>row, 1);
  }
}
