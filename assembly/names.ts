/** Every text that `same` compares with. */
const NAMES: StaticArray<string> = [
  'current_session',
  'past_sessions',
  'past_targets',
  'past_target',
  'age',
  'sex',
  'HR_night',
  'RR_night',
  'HR_day_1h',
  'RR_day_1h',
  'height_cm',
  'weight_kg',
  'remPercentage',
  'deepPercentage',
  'remSleepSeconds',
  'lightPercentage',
  'sleepTimeSeconds',
  'deepSleepSeconds',
  'lightSleepSeconds',
  'awakeSleepSeconds',
  'HR_night_imputed',
  'RR_night_imputed',
  'memory',
  'stress',
  'C_SCORE',
  'valence',
  'arousal',
  'attention',
  'reasoning',
  '"High"',
  '"Low"',
  'explain',
  'true',
  'false',
];

/**
 * The compiler lays a literal down once, in UTF-16. Written over by its own ASCII form, it can be compared with a
 * body eight bytes at a time. A name missing from the list is never recognised: such a body takes the exact path.
 */
export function narrowNames(): void {
  for (let index = 0; index < NAMES.length; index++) {
    const name = unchecked(NAMES[index]);
    const text = changetype<usize>(name);
    for (let at: usize = 0; at < <usize>name.length; at++) store<u8>(text + at, load<u8>(text + (at << 1)));
  }
}

/** Whether the bytes at `pointer` are those of `name`, ASCII of `length`; eight at a time, the last ones twice. */
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
