import { BLOCK, closes, lookAtBlock, opens, outsideOfStrings, quotes, startBlocks, whereEqual, whereSpace } from './blocks';
import { COMMA, inputEnd, inputStart } from './text';

/**
 * Whether the input keeps the bounds of structure: at most `levelsMax` levels of nesting, `bracketsMax` objects and
 * arrays, `stringsMax` strings, keys included. It need not be JSON: unmatched closing brackets are ignored.
 */
export function isWithinBounds(levelsMax: i32, bracketsMax: i32, stringsMax: i32): bool {
  const quotesMax = 2 * stringsMax;
  let level: i32 = 0;
  let bracketCount: i32 = 0;
  let quoteCount: i32 = 0;
  startBlocks();
  for (let block = inputStart; block < inputEnd; block += BLOCK) {
    lookAtBlock(block);
    const opened = <i32>popcnt(opens);
    const closed = <i32>popcnt(closes);
    bracketCount += opened;
    quoteCount += <i32>popcnt(quotes);
    if (bracketCount > bracketsMax || quoteCount > quotesMax) return false;
    // In any order, neither bound is reached.
    if (level >= closed && level + opened <= levelsMax) level += opened - closed;
    else {
      level = levelAfter(level, levelsMax);
      if (level < 0) return false;
    }
  }
  return true;
}

/** The level after the current block, bracket by bracket; −1 if one exceeds `levelsMax`. */
function levelAfter(before: i32, levelsMax: i32): i32 {
  let level = before;
  for (let left = opens | closes; left != 0; left &= left - 1) {
    if ((opens & left & -left) != 0) {
      level++;
      if (level > levelsMax) return -1;
    } else if (level > 0) level--;
  }
  return level;
}

/**
 * Numbers, strings that are no keys, `true`, `false` and `null` in the input, which has to be JSON. Of n elements or
 * members each but one follows a comma; an empty object or array is the only value that is none of these.
 */
export function scalarCount(): i32 {
  let count: i32 = 1;
  /** The first bit is set if the last byte before the block, white space apart, opens an object or array. */
  let opened: u64 = 0;
  startBlocks();
  for (let block = inputStart; block < inputEnd; block += BLOCK) {
    lookAtBlock(block);
    count += <i32>popcnt(whereEqual(block, COMMA) & outsideOfStrings());
    const after = (opens << 1) | opened;
    opened = opens >>> 63;
    if (after == 0) continue;
    // A carry moves each bit through the white space where it stands.
    const spaces = whereSpace(block);
    const moved = (after & spaces) + spaces;
    if (moved < spaces) opened = 1;
    count -= <i32>popcnt(closes & ((after | moved) & ~spaces));
  }
  return count;
}
