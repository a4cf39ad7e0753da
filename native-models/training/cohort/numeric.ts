/** Solves the small symmetric system `matrix · x = right` by Gaussian elimination with pivots. */
export function solve(matrix: Float64Array, right: Float64Array): Float64Array {
  const n = right.length;
  const a = Array.from({ length: n }, (_, i) => [...matrix.subarray(i * n, (i + 1) * n), right[i] ?? 0]);
  for (let column = 0; column < n; column++) {
    const pivot = pivotRow(a, column);
    [a[column], a[pivot]] = [a[pivot] ?? [], a[column] ?? []];
    for (let row = 0; row < n; row++) if (row !== column) eliminate(a, row, column);
  }
  return Float64Array.from(a, (row, i) => (row[n] ?? 0) / (row[i] ?? 1));
}

function pivotRow(a: readonly number[][], column: number): number {
  let best = column;
  for (let row = column + 1; row < a.length; row++) {
    if (Math.abs(a[row]?.[column] ?? 0) > Math.abs(a[best]?.[column] ?? 0)) best = row;
  }
  return best;
}

function eliminate(a: number[][], row: number, column: number): void {
  const source = a[column] ?? [];
  const target = a[row] ?? [];
  const factor = (target[column] ?? 0) / (source[column] ?? 1);
  for (let k = column; k < target.length; k++) target[k] = (target[k] ?? 0) - factor * (source[k] ?? 0);
}
