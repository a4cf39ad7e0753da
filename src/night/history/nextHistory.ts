import type { Thresholds } from '../respond.js';
import type { HistoryToCome } from '../request.js';
import { sealedText, writeScores, type SessionScores } from './form.js';

/**
 * The history for the answer. Its bytes are complete except for the scores and the checksum, so little is left to do
 * when the answer is written.
 */
export class NextHistory implements HistoryToCome {
  private readonly whole: Buffer;
  readonly length: number;

  /** Copies `bytes`, whose last four are reserved for the checksum. */
  constructor(
    bytes: Uint8Array,
    /** Where the session starts in `bytes`; undefined if it is not kept. */
    private readonly session: number | undefined,
    readonly isOthers: boolean,
    readonly adjustments: HistoryToCome['adjustments'],
    readonly ignored: HistoryToCome['ignored'],
    readonly tests: HistoryToCome['tests'],
    room?: Buffer,
  ) {
    const { length } = bytes;
    this.length = length;
    this.whole = room !== undefined && room.length >= length ? room : Buffer.allocUnsafe(length);
    this.whole.set(bytes);
  }

  text(row: SessionScores, thresholds: Thresholds): string {
    this.write(row, thresholds);
    return sealedText(this.whole, this.length);
  }

  /** The bytes instead of the text, with room for the checksum after them. */
  bytes(row: SessionScores, thresholds: Thresholds): Buffer {
    this.write(row, thresholds);
    return this.whole;
  }

  private write(row: SessionScores, thresholds: Thresholds): void {
    if (this.session !== undefined) writeScores(this.whole, this.session, row, thresholds);
  }
}
