import type { Admission } from '../../auth/limits/rateLimiter.js';
import type { OverloadCause } from '../../contract/metrics.js';
import type { RecordingResult } from './recordingReader.js';
import type { BodyScoring } from '../answerBody.js';
import type { BudgetOutcome } from '../bodyBudget.js';
import type { Door } from '../door.js';
import { furtherBlocks, recordingTokens } from '../prices.js';

export const BUDGET_CAUSES = { full: 'bodiesFull', shareFull: 'bodiesOfKey' } as const satisfies Record<
  Exclude<BudgetOutcome, 'taken'>,
  OverloadCause
>;

interface HandedOver {
  readonly scoring: BodyScoring;
  readonly bytes: Uint8Array;
  readonly payer: Admission | undefined;
  readonly startedMs: number;
}

/** Bodies with a recording of one event loop: from its fast path to the process that reads them, and back. */
export class Recordings {
  constructor(private readonly door: Door) {}

  /** `bytes` are valid until this returns. */
  take(scoring: BodyScoring, bytes: Uint8Array, payer: Admission | undefined): void {
    const { recordings, clock, deadlineMs, budget } = this.door.options;
    const { length } = bytes;
    const paid = 1 + furtherBlocks(length);
    if (payer !== undefined) this.door.spend(payer, recordingTokens(length) - paid);
    const holder = payer?.key.keyIndex;
    const room = recordings.room(holder);
    if (room !== 'admitted')
      return scoring.overloaded(room === 'saturated' ? 'recordingsFull' : 'recordingsOfKey');
    const full = this.charge(holder, length);
    if (full !== undefined) return scoring.overloaded(full);
    const startedMs = clock.monotonicMs();
    scoring.dueMs = startedMs + deadlineMs;
    const own = new Uint8Array(bytes);
    recordings.add({
      bytes: own,
      holder,
      expiresMs: scoring.expiresMs,
      get isGone() {
        return scoring.isGone;
      },
      settle: (result) => {
        if (holder !== undefined) budget.give(holder, length);
        this.settle({ scoring, bytes: own, payer, startedMs }, result);
      },
    });
  }

  /** The body stays in memory until it is read. @returns why there is no room for it */
  private charge(holder: number | undefined, bytes: number): OverloadCause | undefined {
    if (holder === undefined) return undefined;
    const outcome = this.door.options.budget.take(holder, bytes);
    return outcome === 'taken' ? undefined : BUDGET_CAUSES[outcome];
  }

  private settle(
    { scoring, bytes, payer, startedMs }: HandedOver,
    result: RecordingResult | 'expired',
  ): void {
    const { metrics, onFault, clock } = this.door.options;
    if (result === 'expired') return scoring.overloaded('deadline');
    if (result instanceof Error) {
      onFault(result, scoring.requestId);
      return scoring.failedUnexpectedly();
    }
    if (result.kind === 'absent') return this.door.takeRead(scoring, bytes, payer);
    const { kind, provider = 'unknown' } = result;
    if (payer !== undefined) metrics.recording(provider, kind, clock.monotonicMs() - startedMs);
    scoring.recording = provider;
    scoring.recordingTold = kind === 'read' ? result.told : undefined;
    if (scoring.isGone) return;
    if (kind === 'read') this.door.takeRead(scoring, result.body, payer);
    else this.door.refuseBody(scoring, result.problem, payer);
  }
}
