/** Sorts names by character, but numbers in them by value: `part-2` before `part-10`. */
export function naturalOrder(a: string, b: string): number {
  const [left, right] = [piecesOf(a), piecesOf(b)];
  for (const [index, piece] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = isNumber(piece) && isNumber(other) ? bySize(piece, other) : byCharacters(piece, other);
    if (order !== 0) return order;
  }
  return left.length - right.length || byCharacters(a, b);
}

/** As `naturalOrder`, folder by folder. */
export function pathOrder(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (const [index, part] of left.entries()) {
    const order = naturalOrder(part, right[index] ?? '');
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function piecesOf(name: string): string[] {
  return name.match(/\d+|\D+/g) ?? [];
}

function isNumber(piece: string): boolean {
  return /^\d/.test(piece);
}

/** Compares digit strings of any length by value. */
function bySize(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  return left.length - right.length || byCharacters(left, right);
}

function byCharacters(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
