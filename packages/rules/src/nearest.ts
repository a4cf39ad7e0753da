/**
 * The name in `names` with the fewest edits to `mistyped`, at most `editsMax`; undefined if there is none.
 */
export function nearestName(
  mistyped: string,
  names: readonly string[],
  editsMax: number,
): string | undefined {
  let best: string | undefined;
  let bestEdits = editsMax + 1;
  for (const name of names) {
    const edits = editDistance(mistyped, name);
    if (edits < bestEdits) [best, bestEdits] = [name, edits];
  }
  return best;
}

/** Levenshtein distance, one row at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (to[column - 1] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
