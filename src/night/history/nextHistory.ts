import type { Thresholds } from '../respond.js';
import type { HistoryToCome } from '../request.js';
import { CRC_BYTES, sealedText, writeScores, type SessionScores } from './form.js';

/**
 * The history for the answer. Its bytes are complete except for the scores and the checksum, so little is left to do
 * when the answer is written.
 */
export class NextHistory implements HistoryToCome {
  private readonly whole: Buffer;

  /** Copies `bytes`. */
  constructor(
    bytes: Buffer,
    /** Where the session starts in `bytes`; undefined if it is not kept. */
    private readonly session: number | undefined,
    readonly isOthers: boolean,
    readonly adjustments: HistoryToCome['adjustments'],
    readonly ignored: HistoryToCome['ignored'],
    readonly tests: HistoryToCome['tests'],
  ) {
    this.whole = Buffer.allocUnsafe(bytes.length + CRC_BYTES);
    this.whole.set(bytes);
  }

  text(row: SessionScores, thresholds: Thresholds): string {
    this.write(row, thresholds);
    return sealedText(this.whole);
  }

  /** The bytes instead of the text, without the checksum. */
  bytes(row: SessionScores, thresholds: Thresholds): Uint8Array {
    this.write(row, thresholds);
    return this.whole.subarray(0, -CRC_BYTES);
  }

  private write(row: SessionScores, thresholds: Thresholds): void {
    if (this.session !== undefined) writeScores(this.whole, this.session, row, thresholds);
  }
}
