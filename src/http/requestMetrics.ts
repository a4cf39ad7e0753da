import {
  GONE_CAUSES,
  KEY_KINDS,
  RECORDING_LABELS,
  RECORDING_OUTCOMES,
  REFUSAL_CAUSES,
  STAGES,
  STATUSES,
  type GoneCause,
  type LoopRecorders,
  type RecordingLabel,
  type RefusalCause,
} from '../contract/metrics.js';
import { FINDING_TYPES, type Finding } from '../contract/problems.js';
import type { ReadRequest } from '../night/request.js';
import { eachMissingField } from '../night/missing.js';
import type { Timing } from '../score/scorer.js';

/** The numbers that each request of one event loop adds: additions at fixed positions, nothing else. */
export class RequestMetrics {
  private untilSample = 1;
  private readonly countMissing = (field: number): void => this.metrics.fieldsMissing.add(field);

  constructor(private readonly metrics: LoopRecorders) {}

  /** A body was read to its end. */
  received(bytes: number): void {
    this.metrics.bodyBytes.add(0, bytes);
  }

  /**
   * Counts the unknown fields of a valid request; for one request in `SAMPLED_EVERY`, also its known fields.
   */
  understood(request: ReadRequest): void {
    if (request.unknownFields > 0) this.metrics.fieldsUnknown.add(0, request.unknownFields);
    this.untilSample--;
    if (this.untilSample > 0) return;
    this.untilSample = SAMPLED_EVERY;
    this.metrics.sessionsSampled.add(0);
    eachMissingField(request, this.countMissing);
  }

  answered(status: number, kind: KeyKindLabel): void {
    this.metrics.requests.add((STATUS_CELLS[status] ?? NaN) + KIND_CELLS[kind]);
  }

  /** A list was answered; its lines are counted one by one. */
  listAnswered(lines: number): void {
    this.metrics.listLines.observe(0, lines);
  }

  /** A recording was read, or refused, so long after its last byte. */
  recording(provider: RecordingLabel, outcome: (typeof RECORDING_OUTCOMES)[number], ms: number): void {
    const cell = RECORDING_LABELS.indexOf(provider) * RECORDING_OUTCOMES.length;
    this.metrics.recordings.add(cell + RECORDING_OUTCOMES.indexOf(outcome));
    this.metrics.recordingTime.observe(0, ms);
  }

  refused(cause: RefusalCause): void {
    this.metrics.refusals.add(CAUSE_CELLS[cause]);
  }

  /** The findings in a body. */
  found(findings: readonly Finding[]): void {
    for (const { type } of findings) this.metrics.findings.add(FINDING_CELLS[type]);
  }

  callerGone(cause: GoneCause = 'hungUp'): void {
    this.metrics.gone.add(GONE_CAUSES.indexOf(cause));
  }

  served({ startedMs, receivedMs, endedMs, timing }: ServedTimes): void {
    const { admittedMs, queueMs, dispatchMs, inferMs, scoredMs } = timing;
    const { stages } = this.metrics;
    stages.observe(STAGE_CELLS.receive, receivedMs - startedMs);
    stages.observe(STAGE_CELLS.read, admittedMs - receivedMs);
    stages.observe(STAGE_CELLS.queue, queueMs - dispatchMs);
    stages.observe(STAGE_CELLS.dispatch, dispatchMs);
    stages.observe(STAGE_CELLS.infer, inferMs);
    stages.observe(STAGE_CELLS.reply, endedMs - scoredMs);
    stages.observe(STAGE_CELLS.total, endedMs - startedMs);
  }
}

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

const KIND_CELLS = cellsByName(KEY_KINDS);
const STAGE_CELLS = cellsByName(STAGES);

/** By status: the first of its cells. */
const STATUS_CELLS: readonly (number | undefined)[] = STATUSES.reduce<number[]>((cells, status, index) => {
  cells[status] = index * KEY_KINDS.length;
  return cells;
}, []);
const CAUSE_CELLS = cellsByName(REFUSAL_CAUSES);
const FINDING_CELLS = cellsByName(FINDING_TYPES);

function cellsByName<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, cell) => [name, cell])) as Record<Name, number>;
}
