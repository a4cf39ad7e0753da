import type { Kind } from './sleep.js';
import type { Stretch } from './durations.js';

/** Intervals in order, without overlap, and without those of unknown stage. @internal */
export function flattened(stretches: readonly Stretch[]): Stretch[] {
  const edges = stretches
    .flatMap(({ stage, from, to }) => {
      const rank = stage === undefined ? -1 : RANK.indexOf(stage);
      return rank < 0 ? [] : [{ ms: from, rank, step: 1 }, { ms: to, rank, step: -1 }]; // prettier-ignore
    })
    .toSorted((a, b) => a.ms - b.ms);
  const open = RANK.map(() => 0);
  const flat: { stage: Kind; from: number; to: number }[] = [];
  let fromMs = -Infinity;
  for (const { ms, rank, step } of edges) {
    const stage = RANK[open.findLastIndex((count) => count > 0)];
    const last = flat.at(-1);
    if (stage !== undefined && ms > fromMs) {
      if (last?.stage === stage && last.to === fromMs) last.to = ms;
      else flat.push({ stage, from: fromMs, to: ms });
    }
    open[rank] = (open[rank] ?? 0) + step;
    fromMs = ms;
  }
  return flat;
}

/** If intervals overlap, the more specific stage counts: an app may put one stage under the whole night. */
const RANK: readonly Kind[] = ['asleep', 'light', 'awake', 'rem', 'deep'];
