import t from 'tap';
import type { Session } from '#acuity/contract/request.js';
import { OTHER_DEVICES, seenBy, type OtherDevice } from '#training/evaluation/otherDevices.js';
import { follow, model, scoreAfter, scoreOf, simulate, type Course } from './weeks.js';

const PEOPLE = 30;
const SCORES = ['attention', 'memory', 'reasoning', 'stress'] as const;
const SHIFT_MOST = 1.5;
const AVERAGED_SHIFT_MOST = 2;
const DISTANCE_MOST = 2;

interface Seen {
  readonly courses: readonly Course[];
  /** The last day without history. */
  readonly alone: readonly Float32Array[];
}

async function see(other?: OtherDevice): Promise<Seen> {
  const courses: Course[] = [];
  const alone: Float32Array[] = [];
  for (const week of simulate(PEOPLE, seenBy(other))) {
    courses.push(await follow(week));
    alone.push((await model.score({ current_session: lastOf(week) })).slice());
  }
  return { courses, alone };
}

function lastOf(week: readonly Session[]): Session {
  return week.at(-1) ?? {};
}

/** Today by another device than the five days before. */
async function changed(past: Seen, today: Seen): Promise<Float32Array[]> {
  const scores: Float32Array[] = [];
  for (const [person, { sessions, records }] of past.courses.entries()) {
    const current = lastOf(today.courses[person]?.sessions ?? []);
    scores.push((await scoreAfter(current, sessions.slice(0, 5), records.slice(0, 5))).slice());
  }
  return scores;
}

function largest(
  from: readonly Float32Array[],
  to: readonly Float32Array[],
): { shift: number; distance: number } {
  const all = SCORES.map((name) => {
    const moves = to.map((scores, person) => scoreOf(scores, name) - scoreOf(from[person] ?? scores, name));
    const mean = (values: readonly number[]): number => values.reduce((sum, v) => sum + v, 0) / values.length;
    return { shift: Math.abs(mean(moves)), distance: mean(moves.map(Math.abs)) };
  });
  return {
    shift: Math.max(...all.map(({ shift }) => shift)),
    distance: Math.max(...all.map(({ distance }) => distance)),
  };
}

const plain = await see();
const lastScores = ({ courses }: Seen): Float32Array[] => courses.map(({ last }) => last);

for (const other of OTHER_DEVICES) {
  t.test(`the same people and nights, ${other.name}: the same scores`, async (t) => {
    const seen = await see(other);
    const found = {
      'without history': largest(plain.alone, seen.alone),
      'with five sessions of that device': largest(lastScores(plain), lastScores(seen)),
      'on the day of the change to it': largest(lastScores(plain), await changed(plain, seen)),
      'on the day of the change from it': largest(lastScores(plain), await changed(seen, plain)),
    };
    for (const [setting, { shift, distance }] of Object.entries(found)) {
      const most = other.isAveraged === true ? AVERAGED_SHIFT_MOST : SHIFT_MOST;
      t.ok(shift <= most, `${setting}: mean shift ${shift.toFixed(2)}`);
      if (other.isAveraged !== true)
        t.ok(distance <= DISTANCE_MOST, `${setting}: mean distance ${distance.toFixed(2)}`);
    }
  });
}
