import { spreadOf, type Spread } from '#acuity/tune/load/statistics.js';

/** A setting of the service that is tried. */
export interface Setting {
  readonly name: string;
  /** Threads of event loops and of the network together. */
  readonly threads: number;
  readonly env: Readonly<Record<string, string>>;
}

/** Measurements of a setting, by repetition; rates in the order in which they were asked. */
export interface Tried {
  readonly setting: Setting;
  /** Answers a second with every connection busy. */
  readonly saturated: readonly number[];
  readonly atRates: readonly {
    readonly p99Ms: readonly number[];
    readonly perSecond: readonly number[];
  }[];
  readonly errors: number;
}

/** A setting keeps up that answers so much of what was sent. */
const KEPT_SHARE = 0.98;

/** Every combination that the service takes: each event loop needs a worker. */
export function settingsOf(
  workers: readonly number[],
  intraOp: readonly number[],
  interOp: readonly number[] = [1],
  loops: readonly number[] = [1],
): Setting[] {
  const many = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
  return loops.flatMap((loop) =>
    workers
      .filter((worker) => worker >= loop)
      .flatMap((worker) => intraOp.flatMap((intra) => interOp.map((inter) => ({ worker, intra, inter }))))
      .map(({ worker, intra, inter }) => ({
        name: `${loop > 1 ? `${many(loop, 'loop')}, ` : ''}${many(worker, 'worker')} × ${many(intra, 'thread')}${inter > 1 ? `, ${inter} inter-op` : ''}`,
        threads: loop + worker * intra * inter,
        env: {
          ACUITY_WORKERS: String(worker),
          ACUITY_INTRA_OP_THREADS: String(intra),
          ...(inter > 1 && { ACUITY_INTER_OP_THREADS: String(inter) }),
          ...(loop > 1 && { ACUITY_HTTP_THREADS: String(loop) }),
        },
      })),
  );
}

/** Says what to set, in a sentence: the lowest p99 among those that keep up; of several whose median lies within its spread the fewest threads. */
export function verdictOn(
  tried: readonly Tried[],
  asked: { readonly rate: number; readonly isRateMeasured: boolean; readonly cores: number },
): string {
  if (!asked.isRateMeasured) {
    const [best] = tried.toSorted((a, b) => median(b.saturated) - median(a.saturated));
    return `Fixed rates were not measured. Saturated, ${nameOf(best)} answers most: ${median(best?.saturated ?? []).toFixed(0)} requests a second. ${setOf(best)}`;
  }
  const last = (one: Tried) => one.atRates.at(-1);
  const answered = (one: Tried): number => median(last(one)?.perSecond ?? []);
  const keeping = tried.filter((one) => one.errors === 0 && answered(one) >= KEPT_SHARE * asked.rate);
  const cores = `${asked.cores} core${asked.cores === 1 ? '' : 's'}, which the generator shares`;
  if (keeping.length === 0) {
    const [best] = tried.toSorted((a, b) => answered(b) - answered(a));
    const most = best === undefined ? NaN : answered(best);
    return `No setting keeps up with ${asked.rate} requests a second on ${cores}: ${nameOf(best)} comes nearest with ${most.toFixed(0)}. Send less, or use more cores. ${setOf(best)}`;
  }
  const p99 = (one: Tried): Spread => spreadOf(last(one)?.p99Ms ?? [NaN]);
  const [fastest] = keeping.toSorted((a, b) => p99(a).median - p99(b).median);
  const limit = fastest === undefined ? NaN : p99(fastest).max;
  const [chosen] = keeping
    .filter((one) => p99(one).median <= limit)
    .toSorted((a, b) => a.setting.threads - b.setting.threads || p99(a).median - p99(b).median);
  const found = chosen === undefined ? undefined : p99(chosen);
  return `At ${asked.rate} requests a second on ${cores}, ${nameOf(chosen)} has a p99 of ${found?.median.toFixed(1)} ms (${found?.min.toFixed(1)}–${found?.max.toFixed(1)}); no setting is better beyond the spread. ${setOf(chosen)}`;
}

function nameOf(one: Tried | undefined): string {
  return one?.setting.name ?? 'none';
}

function setOf(one: Tried | undefined): string {
  return one === undefined
    ? ''
    : `Set ${Object.entries(one.setting.env).map(([name, value]) => `${name}=${value}`).join(' ')}.`; // prettier-ignore
}

function median(values: readonly number[]): number {
  return values.length === 0 ? NaN : spreadOf(values).median;
}
