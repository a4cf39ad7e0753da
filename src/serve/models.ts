import type { Predict } from '../http/predict.js';
import type { Bundle } from '../model/bundle.js';
import type { Scorer } from '../score/scorer.js';
import type { Scorers } from './scorers.js';

/** The models of one event loop: `Predict` has the one in force, another may stand ready beside it. */
export class Models {
  /** Settles when the model that was replaced last is closed. */
  retired: Promise<void> = Promise.resolve();
  private prepared: Promise<Scorer> | undefined;

  constructor(
    private readonly scorers: Scorers,
    private readonly openModel: (bundle: Bundle) => Promise<Scorer>,
  ) {}

  open(bundle: Bundle): Promise<Scorer> {
    return this.scorers.add(() => this.openModel(bundle));
  }

  async prepare(bundle: Bundle): Promise<void> {
    await this.drop();
    this.prepared = this.open(bundle);
    await this.prepared;
  }

  /** The old model answers the requests that it admitted. */
  async switchIn(predict: Predict): Promise<void> {
    const prepared = await this.prepared;
    if (prepared === undefined) throw new Error('no model was prepared');
    this.prepared = undefined;
    const { scorer } = predict;
    predict.scorer = prepared;
    this.retired = scorer.drained().then(() => this.scorers.close(scorer));
    return this.retired;
  }

  /**
   * Waits for a model that is being opened: ending its workers while they start or run would end the process.
   */
  async drop(): Promise<void> {
    const { prepared } = this;
    this.prepared = undefined;
    const scorer = await prepared?.catch(() => undefined);
    if (scorer !== undefined) await this.scorers.close(scorer);
  }
}
