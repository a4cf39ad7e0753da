import type { PredictionRequest } from '../night/request.js';
import type { Batcher } from './batcher.js';
import type { AdmitOutcome, ScoreHandler, Scorer, ScoringModel } from './scorer.js';

/**
 * Gives plain and explained requests batches and workers of their own. An explained request occupies a worker
 * for as long as dozens of plain ones, and no plain one waits for it. The workers for explanations start with
 * the first such request.
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

  admitExplained(request: PredictionRequest, handler: ScoreHandler): AdmitOutcome {
    return this.explainedLines.admit(request, handler);
  }

  get lines(): Batcher {
    return this.plain;
  }

  get explainedLines(): Batcher {
    this.explained ??= this.openExplained();
    return this.explained;
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

  async halt(): Promise<void> {
    await Promise.all([this.plain.halt(), this.explained?.halt()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.plain.close(), this.explained?.close()]);
  }
}
