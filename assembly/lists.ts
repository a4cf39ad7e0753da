import { isDoubtful } from './doubts';
import { RECORD_LENGTH, SAMPLES } from './layout';
import { areFinite, forgetBreathing, isBreathingFast, summarise } from './series';

/**
 * The columns of a table, a column at a time: one call for some hundred lists, where a call for each of them would cost
 * more than the list. What is not plainly right is marked in a byte for each row, for the exact path to decide.
 */

/**
 * Summarises the lists of a series into the records that begin at `records`, one for each row; `summary` is the place
 * in a record. List i is the `lengths[i]` floats (i32; 0 for none) from number `starts[i]` (i32) of `values` on.
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
    // What is summarised is filled up behind its end, where the list of the next row lies.
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

/** Marks the records of so many rows that `isDoubtful`. */
export function markDoubtful(rows: i32, records: usize, marks: usize): void {
  forgetBreathing(); // it is marked already
  for (let row = 0; row < rows; row++) {
    if (isDoubtful(records + <usize>(row * RECORD_LENGTH) * 8)) store<u8>(marks + <usize>row, 1);
  }
}
