import type { Cells, Histograms, MetricWriter } from '../base/metrics.js';
import {
  KEY_KINDS,
  RECORDING_LABELS,
  RECORDING_OUTCOMES,
  REFUSAL_CAUSES,
  STAGES,
  STATUSES,
  type LoopCatalogue,
  type RecordingLabel,
  type RefusalCause,
} from '../contract/metrics.js';
import { FINDING_TYPES, type Finding, type FindingType } from '../contract/problems.js';
import type { ReadRequest } from '../records/request.js';
import { eachMissingField } from '../pipeline/missing.js';
import type { Timing } from '../scoring/scorer.js';

export type KeyKindLabel = (typeof KEY_KINDS)[number];

/** The fields of one request in this many are examined. */
const SAMPLED_EVERY = 16;

/** When the stages of a scored request ended, on the event loop's clock. */
export interface ServedTimes {
  readonly startedMs: number;
  readonly receivedMs: number;
  readonly endedMs: number;
  readonly timing: Timing;
}

/** The numbers that each request of one event loop adds: additions at fixed positions, nothing else. */
export class RequestMetrics {
  private readonly requests: Cells;
  private readonly refusals: Cells;
  private readonly findings: Cells;
  private readonly gone: Cells;
  private readonly bodyBytes: Cells;
  private readonly stages: Histograms;
  private readonly listLines: Histograms;
  private readonly recordings: Cells;
  private readonly recordingTime: Histograms;
  private readonly sessionsSampled: Cells;
  private readonly fieldsMissing: Cells;
  private readonly fieldsUnknown: Cells;
  private untilSample = 1;
  private readonly countMissing = (field: number): void => this.fieldsMissing.add(field);

  constructor(writer: MetricWriter<LoopCatalogue>) {
    this.requests = writer.cells('requests');
    this.refusals = writer.cells('refusals');
    this.findings = writer.cells('findings');
    this.gone = writer.cells('gone');
    this.bodyBytes = writer.cells('bodyBytes');
    this.stages = writer.histograms('stages');
    this.listLines = writer.histograms('listLines');
    this.recordings = writer.cells('recordings');
    this.recordingTime = writer.histograms('recordingTime');
    this.sessionsSampled = writer.cells('sessionsSampled');
    this.fieldsMissing = writer.cells('fieldsMissing');
    this.fieldsUnknown = writer.cells('fieldsUnknown');
  }

  /** A body was read to its end. */
  received(bytes: number): void {
    this.bodyBytes.add(0, bytes);
  }

  /**
   * Counts the unknown fields of a valid request; for one request in `SAMPLED_EVERY`, also its known fields.
   */
  understood(request: ReadRequest): void {
    if (request.unknownFields > 0) this.fieldsUnknown.add(0, request.unknownFields);
    this.untilSample--;
    if (this.untilSample > 0) return;
    this.untilSample = SAMPLED_EVERY;
    this.sessionsSampled.add(0);
    eachMissingField(request, this.countMissing);
  }

  answered(status: number, kind: KeyKindLabel): void {
    this.requests.add(
      (STATUS_CELLS[status] ?? NaN) + (kind === 'live' ? LIVE : kind === 'demo' ? DEMO : NONE),
    );
  }

  /** A list was answered; its lines are counted one by one. */
  listAnswered(lines: number): void {
    this.listLines.observe(0, lines);
  }

  /** A recording was read, or refused, so long after its last byte. */
  recording(provider: RecordingLabel, outcome: (typeof RECORDING_OUTCOMES)[number], ms: number): void {
    const cell = RECORDING_LABELS.indexOf(provider) * RECORDING_OUTCOMES.length;
    this.recordings.add(cell + RECORDING_OUTCOMES.indexOf(outcome));
    this.recordingTime.observe(0, ms);
  }

  refused(cause: RefusalCause): void {
    this.refusals.add(CAUSE_CELLS[cause]);
  }

  /** The findings in a body. */
  found(findings: readonly Finding[]): void {
    for (const { type } of findings) this.findings.add(FINDING_CELLS[type]);
  }

  callerGone(): void {
    this.gone.add(0);
  }

  served({ startedMs, receivedMs, endedMs, timing }: ServedTimes): void {
    const { admittedMs, queueMs, dispatchMs, inferMs, scoredMs } = timing;
    const { stages } = this;
    stages.observe(RECEIVE, receivedMs - startedMs);
    stages.observe(READ, admittedMs - receivedMs);
    stages.observe(QUEUE, queueMs - dispatchMs);
    stages.observe(DISPATCH, dispatchMs);
    stages.observe(INFER, inferMs);
    stages.observe(REPLY, endedMs - scoredMs);
    stages.observe(TOTAL, endedMs - startedMs);
  }
}

const NONE = KEY_KINDS.indexOf('none');
const DEMO = KEY_KINDS.indexOf('demo');
const LIVE = KEY_KINDS.indexOf('live');
const [RECEIVE, READ, QUEUE, DISPATCH, INFER, REPLY, TOTAL] = STAGES.map((_, cell) => cell) as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];

/** By status: the first of its cells. */
const STATUS_CELLS: readonly (number | undefined)[] = STATUSES.reduce<number[]>((cells, status, index) => {
  cells[status] = index * KEY_KINDS.length;
  return cells;
}, []);
const CAUSE_CELLS = cellsByName(REFUSAL_CAUSES);
const FINDING_CELLS: Readonly<Record<FindingType, number>> = cellsByName(FINDING_TYPES);

function cellsByName<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, cell) => [name, cell])) as Record<Name, number>;
}
