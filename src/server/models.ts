import type { Predict } from '../http/predict.js';
import type { Bundle } from '../model/bundle.js';
import type { Log } from '../process/log.js';
import { openScorer, type HungListener, type ScorerSetup } from '../scoring/openScorer.js';
import type { Scorer } from '../scoring/scorer.js';
import { NEVER } from '../base/within.js';

/** The models of one event loop: `Predict` has the one in force, another may stand ready beside it. */
export class Models {
  /** Settles when the model that was replaced last is closed. */
  retired: Promise<void> = Promise.resolve();
  private prepared: Scorer | undefined;
  private opening: Promise<unknown> = Promise.resolve();
  private closing: Promise<unknown> = Promise.resolve();
  private isHalted = false;

  constructor(
    private readonly setup: Omit<ScorerSetup, 'bundle'>,
    private readonly log: Log,
    private readonly onHung: HungListener,
  ) {}

  open(bundle: Bundle): Promise<Scorer> {
    if (this.isHalted) return NEVER;
    return openScorer({ ...this.setup, bundle }, this.log, this.onHung);
  }

  async prepare(bundle: Bundle): Promise<void> {
    await this.drop();
    const opening = this.open(bundle);
    this.opening = opening.catch(() => undefined);
    this.prepared = await opening;
  }

  /** The old model answers the requests that it admitted. */
  switchIn(predict: Predict): Promise<void> {
    const { prepared } = this;
    if (prepared === undefined) throw new Error('no model was prepared');
    this.prepared = undefined;
    const { scorer } = predict;
    predict.scorer = prepared;
    this.retired = scorer.drained().then(() => this.close(scorer));
    return this.retired;
  }

  /** Resolves when no workers are starting or ending, and none will any more. */
  async halt(): Promise<void> {
    this.isHalted = true;
    await Promise.all([this.opening, this.closing]);
  }

  /**
   * Waits for a model that is being opened: ending its workers while they start or run would end the process.
   */
  async drop(): Promise<void> {
    await this.opening;
    const { prepared } = this;
    this.prepared = undefined;
    if (prepared !== undefined) await this.close(prepared);
  }

  private async close(scorer: Scorer): Promise<void> {
    if (this.isHalted) return NEVER;
    const closing = scorer.close();
    this.closing = Promise.allSettled([this.closing, closing]);
    await closing;
  }
}
