import { EXTRAS, EXTRAS_MAX } from './layout';

/** What else a body holds beside what the contract knows: noted by place, for whoever hands it on. */

export function forgetExtras(): void {
  store<i32>(EXTRAS, 0);
}

/** Notes an unknown field; beyond `EXTRAS_MAX` of them no more. */
export function noteExtra(key: usize, keyEnd: usize, value: usize, valueEnd: usize): void {
  const count = load<i32>(EXTRAS);
  if (count == EXTRAS_MAX) return;
  store<i32>(EXTRAS, count + 1);
  const entry = EXTRAS + 4 + (<usize>count << 4);
  store<u32>(entry, <u32>key);
  store<u32>(entry, <u32>keyEnd, 4);
  store<u32>(entry, <u32>value, 8);
  store<u32>(entry, <u32>valueEnd, 12);
}
