import type { MeasuredConstants } from '#acuity/model/manifest.js';
import { adjusted, adjustmentOf, evidenceOf, latentOf, standingOf } from '#acuity/pipeline/measured.js';
import { COLUMN, recordOf, type ServedModel } from '../../served.js';
import { correlation } from '../leastSquares.js';
import { demand, fixed, interval } from '../section.js';
import { bootstrap, mean, type Estimate } from '../statistics.js';
import type { RealFinding } from './finding.js';
import { sleepyTests, type Tested } from './sleepyBrain.js';

const FIELD = 'attention';

/** One session of a person, judged with the test of the other one: percentiles. */
interface Judged {
  readonly truth: number;
  readonly value: number;
  readonly shrunk: number;
  readonly unmeasured: number;
  readonly measured: number;
}
type Person = readonly Judged[];
type Percentile = (one: Tested) => number;

/** Real people: the speed of one session as the measurement of the other, each in turn. */
export async function sleepyMeasured(
  folder: string,
  model: ServedModel,
  { reliability: { [FIELD]: reliability } }: MeasuredConstants,
): Promise<RealFinding | undefined> {
  const pairs = await sleepyTests(folder, model);
  if (pairs === undefined) return undefined;
  const judged = async (percentile: Percentile): Promise<Person[]> => {
    const people: Person[] = [];
    for (const [full, short] of pairs) {
      const placed = (one: Tested): Tested => ({ ...one, percentile: percentile(one) });
      people.push(await judge(placed(full), placed(short), model, reliability));
    }
    return people;
  };
  const rested = await judged(({ percentile }) => percentile);
  const sameNight = await judged(amongTheSame(pairs.flat()));
  const [always, , , , measured] = errorsOf(rested);
  const better = difference(rested);
  return {
    demands: [
      demand(
        'SleepyBrain, the other session’s speed as a measurement: mean error below always 50',
        `${interval(measured, 1)}; always 50: ${interval(always, 1)}`,
        measured.high < always.low,
      ),
      demand(
        'SleepyBrain: mean error not shown to be above that of the shrunk number alone (difference, interval not above 0)',
        interval(better, 2),
        better.low <= 0,
      ),
    ],
    tables: [
      {
        caption: `SleepyBrain, ${pairs.length} people: mean error of one session’s speed, known the other one’s [95 %, over people]; the manifest’s reliability, ${reliability}`,
        header: [
          'percentile',
          'repeats (r)',
          'always 50',
          'the nights alone',
          'the other speed',
          'shrunk',
          'attention with the measurement',
        ],
        rows: [
          ['among full nights of the age group', rested] as const,
          ['among the same nights of the age group', sameNight] as const,
        ].map(([name, people]) => [
          name,
          fixed(
            correlation(
              people.flat().map(({ value }) => value),
              people.flat().map(({ truth }) => truth),
            ),
            2,
          ),
          ...errorsOf(people).map((one) => interval(one, 1)),
        ]),
      },
    ],
    figures: [],
    decisive: { 'SleepyBrain measured': measured.value, 'SleepyBrain always 50': always.value },
  };
}

/** A test's percentile among those of the age group after the same kind of night. */
function amongTheSame(tests: readonly Tested[]): Percentile {
  return ({ group, isShort, speed }) => {
    const others = tests.filter((other) => other.group === group && other.isShort === isShort);
    return 100 * mean(others.map((other) => (other.speed < speed ? 1 : other.speed === speed ? 0.5 : 0)));
  };
}

type Errors = readonly [
  always: Estimate,
  alone: Estimate,
  value: Estimate,
  shrunk: Estimate,
  measured: Estimate,
];

function errorsOf(people: readonly Person[]): Errors {
  const of = (predicted: (one: Judged) => number): Estimate =>
    over(people, (one) => Math.abs(predicted(one) - one.truth));
  return [
    of(() => 50),
    of((one) => one.unmeasured),
    of((one) => one.value),
    of((one) => one.shrunk),
    of((one) => one.measured),
  ];
}

/** How much larger the error is than that of the shrunk number. */
function difference(people: readonly Person[]): Estimate {
  return over(people, ({ truth, measured, shrunk }) => Math.abs(measured - truth) - Math.abs(shrunk - truth));
}

function over(people: readonly Person[], of: (one: Judged) => number): Estimate {
  return bootstrap(people.length, (chosen) =>
    mean([...chosen].flatMap((index) => (people[index] ?? []).map(of))),
  );
}

/** Each session with the other one before it and its test as a measurement, as a history would have both. */
async function judge(one: Tested, other: Tested, model: ServedModel, reliability: number): Promise<Judged[]> {
  return [await judgeOne(one, other, model, reliability), await judgeOne(other, one, model, reliability)];
}

async function judgeOne(
  today: Tested,
  other: Tested,
  model: ServedModel,
  reliability: number,
): Promise<Judged> {
  const before = recordOf(await model.score({ current_session: other.session }));
  const scores = await model.score({
    current_session: today.session,
    past_sessions: [other.session],
    past_targets: [before],
  });
  const unmeasured = scores[COLUMN[FIELD]] ?? NaN;
  const value = other.percentile;
  const evidence = evidenceOf(standingOf(FIELD, value), latentOf(FIELD, before[FIELD]), reliability, 1);
  const adjustment = adjustmentOf(evidence);
  return {
    truth: today.percentile,
    value,
    shrunk: 50 + reliability * (value - 50),
    unmeasured,
    measured: adjustment === undefined ? NaN : adjusted(FIELD, unmeasured, adjustment.base, adjustment.scale),
  };
}
