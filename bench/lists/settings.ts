import type { BenchPayload } from '#bench/comparison/payload.js';

export interface ListSettings {
  readonly payloads: readonly BenchPayload[];
  /** Of each list. */
  readonly lines: readonly number[];
  readonly isP99: boolean;
  readonly hasRust: boolean;
  readonly repetitions: number;
  readonly seconds: number;
  readonly deadlineMs: number;
}
