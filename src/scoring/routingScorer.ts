import type { PredictionRequest } from '../records/request.js';
import type { Batcher } from './batcher.js';
import type { AdmitOutcome, ExplainOutcome, ScoreHandler, Scorer, ScoringModel } from './scorer.js';

/** No holder, that is no key, has more than this share of the explained requests that may be pending. */
const SHARE_OF_HOLDER = 1 / 3;

/**
 * Plain requests and explained ones, each kind with batches and workers of its own: an explained one takes a worker as
 * long as dozens of plain ones do, and none of those waits behind it. Where nobody asks why, there are no such workers.
 */
export class RoutingScorer implements Scorer {
  private explained: Batcher | undefined;

  constructor(
    private readonly plain: Batcher,
    /** Called once, for the first explained request, which waits for the workers to start. */
    private readonly openExplained: () => Batcher,
  ) {}

  get model(): ScoringModel {
    return this.plain.model;
  }

  admit(request: PredictionRequest, handler: ScoreHandler): AdmitOutcome {
    return this.plain.admit(request, handler);
  }

  admitExplained(request: PredictionRequest, handler: ScoreHandler): ExplainOutcome {
    this.explained ??= this.openExplained();
    const { holder } = handler;
    if (holder !== undefined && this.explained.pendingOf(holder) >= shareOf(this.explained))
      return 'shareFull';
    return this.explained.admit(request, handler);
  }

  makeRoom(): boolean {
    return this.plain.makeRoom();
  }

  get pending(): number {
    return this.plain.pending + (this.explained?.pending ?? 0);
  }

  takeMost(): number {
    return this.plain.takeMost() + (this.explained?.takeMost() ?? 0);
  }

  get queued(): number {
    return this.plain.queued + (this.explained?.queued ?? 0);
  }

  async drained(): Promise<void> {
    await Promise.all([this.plain.drained(), this.explained?.drained()]);
  }

  async started(): Promise<void> {
    await Promise.all([this.plain.started(), this.explained?.started()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.plain.close(), this.explained?.close()]);
  }
}

function shareOf({ queueMax }: Batcher): number {
  return Math.max(1, Math.floor(queueMax * SHARE_OF_HOLDER));
}
