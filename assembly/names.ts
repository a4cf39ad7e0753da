import { NAMES } from './rules';

/** Recognises the names of fields, and the words of JSON. */

/** Other texts that `same` compares with. */
const WORDS: StaticArray<string> = ['true', 'false'];

/**
 * The compiler stores each literal once, in UTF-16. Overwritten by its own ASCII form, it can be compared with a body
 * eight bytes at a time. A text missing from the lists is never recognised: such a body takes the exact path.
 */
export function narrowNames(): void {
  for (let index = 0; index < NAMES.length; index++) narrow(unchecked(NAMES[index]));
  for (let index = 0; index < WORDS.length; index++) narrow(unchecked(WORDS[index]));
}

function narrow(name: string): void {
  const text = changetype<usize>(name);
  for (let at: usize = 0; at < <usize>name.length; at++) store<u8>(text + at, load<u8>(text + (at << 1)));
}

/**
 * Whether the bytes at `pointer` equal `name`, ASCII of `length`; eight at a time, and the last eight may overlap.
 */
export function same(pointer: usize, name: string, length: i32): bool {
  const narrow = changetype<usize>(name); // see `narrowNames`
  if (length < 8) {
    const mask = ((<u64>1) << (<u64>length << 3)) - 1;
    return ((load<u64>(pointer) ^ load<u64>(narrow)) & mask) == 0;
  }
  const last = <usize>(length - 8);
  if (load<u64>(pointer) != load<u64>(narrow)) return false;
  if (load<u64>(pointer + last) != load<u64>(narrow + last)) return false;
  return length <= 16 || load<u64>(pointer + 8) == load<u64>(narrow + 8);
}
