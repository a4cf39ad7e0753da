import { type Admission, bucketOf } from '../../auth/limits/rateLimiter.js';
import type { OverloadCause } from '../../contract/metrics.js';
import { boundFinding, type BodyProblem, type BoundType } from '../../contract/problems.js';
import type { LineLane } from '../../score/scorer.js';
import { HEAD_TOKENS, furtherBlocks } from '../prices.js';
import { LINES_MAX } from '#rules/structure.js';
import type { Door } from '../door.js';
import type { Exchange } from '../exchange.js';
import { List, type ListHost, type ListTask } from './list.js';
import { ListCount, type ListSize, measureList } from './listCount.js';

/**
 * The lists of one event loop, from their last byte to their admission: all lines are admitted, or none. It works on
 * all lists in turn, a line of each, and yields the loop in between.
 */
export class Lists implements ListHost {
  private readonly tasks: ListTask[] = [];
  private isScheduled = false;
  private readonly open = new Set<List>();
  private endedListeners: (() => void)[] = [];

  constructor(readonly door: Door) {}

  /** Call it when there may be work. */
  wake(): void {
    if (this.isScheduled || this.tasks.length === 0) return;
    this.isScheduled = true;
    setImmediate(() => this.run());
  }

  private run(): void {
    const { clock } = this.door.options;
    this.isScheduled = false;
    const untilMs = clock.monotonicMs() + TURN_MS;
    let waiting = 0;
    while (waiting < this.tasks.length) {
      const task = this.tasks.shift();
      const outcome = task?.step() ?? 'done';
      if (task !== undefined && outcome !== 'done') this.tasks.push(task);
      waiting = outcome === 'waits' ? waiting + 1 : 0;
      if (clock.monotonicMs() >= untilMs) return this.wake();
    }
  }

  private add(task: ListTask): void {
    this.tasks.push(task);
    this.wake();
  }

  /** Resolves when every admitted list is answered, or its caller gone. */
  async ended(): Promise<void> {
    if (this.open.size > 0) await new Promise<void>((resolve) => this.endedListeners.push(resolve));
  }

  /** Counts the lines in later turns of the event loop, then admits or refuses them. */
  take(exchange: Exchange, list: CompleteList): void {
    const { readRequest, onFault } = this.door.options;
    const refused = (error: unknown): void => {
      list.giveBack();
      onFault(error, exchange.requestId);
      exchange.failedUnexpectedly();
    };
    // With the model's constants: without them a line with measurements would be refused, so not be explained.
    const count = new ListCount(list.bytes, (bytes) => readRequest(bytes, this.door.scorer.model.measured), {
      fits: (lines) => lines <= Math.min(LINES_MAX, bucketOf(list.admission.key)),
      isWithinDay: (lines) => lines <= this.dayMax(list.admission),
    });
    const steps = count.steps();
    this.add({
      step: () => {
        if (exchange.isGone) {
          list.giveBack();
          return 'done';
        }
        try {
          if (steps.next().done !== true) return 'more';
          if (this.admit(exchange, list, count) === undefined) list.giveBack();
        } catch (error) {
          refused(error);
        }
        return 'done';
      },
    });
  }

  /** @returns undefined if the list was refused */
  private admit(exchange: Exchange, list: CompleteList, lines: ListCount): List | undefined {
    const { clock, deadlineMs, rateLimiter } = this.door.options;
    // The work so far costs its tokens even if the list is refused.
    const { paid, extra } = lines;
    if (paid + extra > 0) rateLimiter.spend(list.admission, paid + extra, clock.nowMs());
    const isLate = exchange.expiresMs <= clock.monotonicMs();
    const overload = isLate ? 'deadline' : this.door.overload();
    if (overload !== undefined) return void exchange.overloaded(overload);
    const { admission, giveBack } = list;
    const scorer = this.door.scorer;
    const { model, lines: plain } = scorer;
    const isExplained = model.explainSettings !== undefined && lines.wantsExplanation.includes(true);
    const wantsExplanation = isExplained ? lines.wantsExplanation : [];
    const explained = isExplained ? scorer.explainedLines : undefined;
    const size = measureList(
      { found: lines.found, wantsExplanation, unscorable: lines.unscorable },
      { tokensMax: bucketOf(admission.key), dayMax: this.dayMax(admission), plainMax: plain.linesMax },
    );
    const problem = problemOf(size, explained?.linesMax ?? 0);
    if (problem !== undefined) return void this.door.refuseBody(exchange, problem, admission);
    const places: LaneLines[] = [{ lane: plain, count: size.plain }];
    if (explained !== undefined) places.push({ lane: explained, count: size.explained });
    const holder = admission.key.keyIndex;
    const full = reserve(places, holder);
    if (full !== undefined) return void exchange.overloaded(full);
    const others = this.charge(exchange, admission, { ...size, paid });
    if (others === undefined) {
      for (const { lane, count } of places) lane.release(count, holder);
      return undefined;
    }
    for (const { lane } of places) lane.onLineRoom = () => this.wake();
    const admittedMs = clock.monotonicMs();
    const admitted = new List(this, {
      record: exchange,
      answer: exchange.listAnswer(model.version),
      lines,
      model,
      plain,
      explained,
      first: admission,
      others,
      admittedMs,
      expiresMs: Math.min(exchange.expiresMs, admittedMs + deadlineMs),
      giveBack,
    });
    exchange.list = admitted;
    this.open.add(admitted);
    this.add(admitted);
    return admitted;
  }

  /**
   * Charges the lines for their cost above the head, the blocks of the body and what is `paid`.
   * @returns the admission that all lines count for but the first that does; undefined if the list was refused
   */
  private charge(
    exchange: Exchange,
    admission: Admission,
    size: ListSize & { readonly paid: number },
  ): Admission | undefined {
    const { rateLimiter, clock } = this.door.options;
    const nowMs = clock.nowMs();
    const tokens = Math.max(0, size.tokens - HEAD_TOKENS - furtherBlocks(exchange.bodyBytes) - size.paid);
    if (size.count === 1 && size.tokens > bucketOf(admission.key)) {
      // As for a single request: the bucket could never hold the cost, so it goes into debt.
      rateLimiter.spend(admission, tokens, nowMs);
      return admission;
    }
    if (size.count === 1 && tokens === 0) return admission;
    const charge = { tokens, inAll: size.tokens, count: Math.max(0, size.scorable - 1) };
    const verdict = rateLimiter.admitMore(admission, charge, nowMs);
    if (verdict.outcome === 'admitted') return verdict;
    if (verdict.limit === 'daily') {
      // Another request of the key took what was left a moment ago.
      this.door.refuseBody(exchange, listProblem('too_long', this.dayMax(admission), 'line'), admission);
      return undefined;
    }
    rateLimiter.refund(admission);
    exchange.limited(verdict);
    return undefined;
  }

  /** How many lines the key may still have scored today: its head has taken one. */
  private dayMax(admission: Admission): number {
    const { rateLimiter, clock } = this.door.options;
    return 1 + rateLimiter.leftOfDay(admission, clock.nowMs());
  }

  /** `list` has ended. */
  forget(list: List): void {
    this.open.delete(list);
    this.wake();
    if (this.open.size > 0) return;
    for (const listener of this.endedListeners.splice(0)) listener();
  }
}

/** A list whose bytes have arrived. */
interface CompleteList {
  /** From its head: one token, and one of the day's quota. */
  readonly admission: Admission;
  readonly bytes: Uint8Array;
  /** Gives back the memory of its bytes. */
  readonly giveBack: () => void;
}

/** Places in the queue for some lines of a list. */
interface LaneLines {
  readonly lane: LineLane;
  readonly count: number;
}

/** Why a lane of the scorer has no place. */
export const FULL_CAUSES = { saturated: 'queueFull', shareFull: 'explainedOfKey' } as const;

/** Lists get the event loop for this long at a time; a step that has begun is finished. */
const TURN_MS = 1;

/** Takes all of the places, or none. @returns why it took none */
function reserve(places: readonly LaneLines[], holder: number): OverloadCause | undefined {
  for (const [index, { lane, count }] of places.entries()) {
    const outcome = lane.reserve(count, holder);
    if (outcome === 'admitted') continue;
    for (const taken of places.slice(0, index)) taken.lane.release(taken.count, holder);
    return FULL_CAUSES[outcome];
  }
  return undefined;
}

function problemOf({ count, explained, fit }: ListSize, explainedMax: number): BodyProblem | undefined {
  if (count === 0) return listProblem('too_short', 1, 'line');
  if (explained > explainedMax) return listProblem('too_long', explainedMax, 'explained line');
  return count > fit ? listProblem('too_long', fit, 'line') : undefined;
}

/** Callers split by the number. */
function listProblem(type: BoundType, bound: number, thing: string): BodyProblem {
  const things = bound === 1 ? thing : `${thing}s`;
  return { kind: 'unprocessable', findings: [boundFinding(['body'], type, bound, things)] };
}
