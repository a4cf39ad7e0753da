import { DEFAULT_SERIES_LIMITS, LABEL_FIELDS, PAST_MAX } from '#rules/fields.js';
import { LongRun } from '#acuity/night/history/longRun.js';
import { writeTarget } from '#acuity/night/places.js';
import { LAYOUT } from '#acuity/night/layout.js';
import type { PredictionRequest } from '#acuity/night/request.js';
import { WasmParser } from '#acuity/read/wasmParser.js';
import { recordOf, type ServedModel } from '../served.js';
import type { Plan, World } from './population.js';
import type { Person } from './person.js';
import { readRecording } from './row.js';
import { createReader, isBodyProblem } from '#acuity/read/read.js';
import type { Session } from '#acuity/contract/request.js';

const { RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;

/** People's days as the service reads them, with their scores: requests for any day can be built from them. */
export class Lives {
  /** [people, days, 7] */
  readonly targets: Float64Array;
  /** Unknown for all. */
  readonly chances: Float64Array;

  private constructor(
    readonly people: readonly Person[],
    readonly count: number,
    readonly days: number,
    readonly records: Float64Array,
  ) {
    this.targets = new Float64Array(count * days * TARGET_LENGTH);
    this.chances = new Float64Array(count * days * LABEL_FIELDS.length).fill(NaN);
  }

  /** One person's sessions, as a caller sends them. */
  static read(sessions: readonly Session[]): Lives {
    const records = new Float64Array(sessions.length * RECORD_LENGTH);
    const reader = createReader(DEFAULT_SERIES_LIMITS);
    sessions.forEach((current_session, day) => {
      const request = reader(Buffer.from(JSON.stringify({ current_session })));
      if (isBodyProblem(request)) throw new Error('not a valid session');
      records.set(request.records.subarray(0, RECORD_LENGTH), day * RECORD_LENGTH);
    });
    return new Lives([], 1, sessions.length, records);
  }

  static simulate(world: World, count: number, days: number, plan: Plan = {}): Lives {
    const parser = new WasmParser(DEFAULT_SERIES_LIMITS);
    const records = new Float64Array(count * days * RECORD_LENGTH);
    const { people } = world.simulate(count, days, {
      ...plan,
      look(recording, index, day) {
        plan.look?.(recording, index, day);
        records.set(readRecording(parser, recording).records, (index * days + day) * RECORD_LENGTH);
      },
    });
    return new Lives(people, count, days, records);
  }

  /** Scores day after day and keeps each day's scores, as a caller would return them. */
  async rollOut(model: ServedModel): Promise<void> {
    for (let person = 0; person < this.count; person++) {
      for (let day = 0; day < this.days; day++) {
        const scores = await model.scoreRequest(this.request(person, day, Math.min(day, PAST_MAX)));
        writeTarget(recordOf(scores), this.targets, (person * this.days + day) * TARGET_LENGTH);
      }
    }
  }

  /** Day `day` of a person with this many sessions before it. */
  request(person: number, day: number, sessions: number): PredictionRequest {
    const cell = person * this.days + day;
    const records = new Float64Array((1 + sessions) * RECORD_LENGTH);
    const sent = new Float64Array(sessions * TARGET_LENGTH);
    records.set(this.recordAt(cell), 0);
    for (let index = 0; index < sessions; index++) {
      const from = cell - sessions + index;
      records.set(this.recordAt(from), (1 + index) * RECORD_LENGTH);
      sent.set(
        this.targets.subarray(from * TARGET_LENGTH, (from + 1) * TARGET_LENGTH),
        index * TARGET_LENGTH,
      );
    }
    return { records, targets: sent, pastCount: sessions };
  }

  /** The same with the person's usual day: the long run of all nights before those `sessions`, as in a history. */
  requestWithUsual(person: number, day: number, sessions: number): PredictionRequest {
    const longRun = new LongRun(new ArrayBuffer(LAYOUT.HISTORY_LENGTH), 0);
    for (let night = 0; night < day - sessions; night++) longRun.add(this, person * this.days + night);
    return { ...this.request(person, day, sessions), usual: longRun.usual() };
  }

  private recordAt(cell: number): Float64Array {
    return this.records.subarray(cell * RECORD_LENGTH, (cell + 1) * RECORD_LENGTH);
  }
}
