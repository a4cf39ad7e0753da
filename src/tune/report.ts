/** The block that `acuity tune` prints. */
import { spreadOf } from './load/statistics.js';
import { environmentOf, nameOf, type Candidate } from './candidates.js';
import type { Duel, Goal, Outcome, Verdict } from './goal.js';
import type { Trial } from './halving.js';
import type { TrialOutcome } from './trials.js';

/** The findings of a run of `acuity tune`. */
export interface TuneFindings {
  /** Why the machine was busy before the search. */
  readonly busy: string | undefined;
  readonly goal: Goal;
  readonly rounds: readonly (readonly Trial<Candidate, TrialOutcome>[])[];
  readonly winner: Candidate;
  readonly defaults: Candidate;
  readonly duel: Duel;
  readonly verdict: Verdict;
}

/** Above this, the generator itself may have limited the throughput. */
const GENERATOR_BUSY_MAX = 0.9;

/**
 * The block to paste unchanged into an environment file (systemd, Docker), or into a shell before the command.
 * Everything except the settings is after `#`.
 */
export function blockOf(findings: TuneFindings): string {
  const lines = Object.entries(environmentOf(findings[findings.verdict.recommends])).map(
    ([name, value]) => `${name}=${value}`,
  );
  return [...remarksOf(findings).map((remark) => `# ${remark}`), ...lines].join('\n');
}

/** Remarks for the reader, one per line. */
function remarksOf({ busy, verdict, winner, defaults, goal, duel, rounds }: TuneFindings): string[] {
  const { recommends, sentence } = verdict;
  const outcomes = duel[recommends];
  const p99Ms = outcomes.length === 0 ? NaN : spreadOf(outcomes.map((outcome) => outcome.p99Ms)).median;
  const isBusy = rounds.at(-1)?.some(({ result }) => result.generatorBusy > GENERATOR_BUSY_MAX) === true;
  return [
    `acuity tune: ${sentence}`,
    `${recommends === 'winner' ? 'these' : 'found'}: ${nameOf(winner)}`,
    `defaults: ${nameOf(defaults)}`,
    expectationOf(outcomes),
    ...(busy === undefined
      ? []
      : [`The machine was busy: before the first trial ${busy.replace(' is ', ' was ')}.`]),
    ...(p99Ms > (goal.p99Ms ?? Infinity)
      ? [`p99 stays above the ${goal.p99Ms} ms asked for: send less to this machine, or add machines.`]
      : []),
    ...(isBusy
      ? [
          'The load generator was busy nearly all the time: throughput is what it could send, the server may do more.',
        ]
      : []),
  ];
}

function expectationOf(outcomes: readonly Outcome[]): string {
  if (outcomes.length === 0) return 'not measured: too little time';
  const perSecond = spreadOf(outcomes.map((outcome) => outcome.perSecond));
  const p99Ms = spreadOf(outcomes.map((outcome) => outcome.p99Ms));
  return `expected here, saturated: ${spreadText(perSecond, 0)} requests/s, ${Number.isFinite(p99Ms.median) ? `p99 ${spreadText(p99Ms, 1)} ms` : 'no p99'}`;
}

function spreadText({ median, min, max }: ReturnType<typeof spreadOf>, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}
