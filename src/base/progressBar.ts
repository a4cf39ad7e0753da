/** "█████░░░░░": progress, `share` from 0 to 1. */
export function progressBar(share: number, cells: number): string {
  const filled = Math.round(share * cells);
  return '█'.repeat(filled) + '░'.repeat(cells - filled);
}
