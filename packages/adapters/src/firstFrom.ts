/** The index of the first of ordered items at or after a moment; their number if there is none. @internal */
export function firstFrom<Item>(ms: number, items: readonly Item[], atMs: (item: Item) => number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && atMs(item) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
