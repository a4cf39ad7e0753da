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

/** Items by a key, in the order of its first item; Node 20 has no Map.groupBy. @internal */
export function grouped<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Items in order as runs: each goes on with an item while `goesOn` says so. @internal */
export function runsOf<Item>(
  items: readonly Item[],
  goesOn: (run: readonly [Item, ...Item[]], item: Item) => boolean,
): [Item, ...Item[]][] {
  const runs: [Item, ...Item[]][] = [];
  for (const item of items) {
    const last = runs.at(-1);
    if (last !== undefined && goesOn(last, item)) last.push(item);
    else runs.push([item]);
  }
  return runs;
}

/** An object without what is undefined in it. @internal */
export function known<Of extends object>(
  object: Of,
): { readonly [Name in keyof Of]?: Exclude<Of[Name], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Of;
}

/** Returns or throws as `make` does, which is called once, when it is first needed. @internal */
export function once<Made>(make: () => Made): () => Made {
  let get = (): Made => {
    try {
      const made = make();
      get = () => made;
    } catch (error) {
      get = () => {
        throw error;
      };
    }
    return get();
  };
  return () => get();
}
