import { escapeHtml, htmlTable, pageOf } from './page.js';
import { spreadOf } from '../load/statistics.js';
import { environmentOf, nameOf, type Candidate } from './candidates.js';
import type { Duel, Goal, Outcome, Verdict } from './goal.js';
import type { Trial } from './halving.js';
import type { TrialOutcome } from './trials.js';

/** Everything that a run of `acuity tune` found. */
export interface TuneFindings {
  readonly machine: string;
  readonly goal: Goal;
  /** Requests per second of the trials where the goal is latency. */
  readonly rate: number | undefined;
  readonly rounds: readonly (readonly Trial<Candidate, TrialOutcome>[])[];
  readonly winner: Candidate;
  readonly defaults: Candidate;
  readonly duel: Duel;
  readonly verdict: Verdict;
}

/** A generator busier than this may have been what was measured. */
const GENERATOR_BUSY_MAX = 0.9;

/** The block to paste, with what to expect of it; comments are the shell's. */
export function blockOf({ winner, defaults, verdict, duel, rate }: TuneFindings): string {
  const isWinner = verdict.recommends === 'winner';
  const expected = isWinner ? duel.winner : duel.defaults;
  const lines = Object.entries(environmentOf(isWinner ? winner : defaults)).map(
    ([name, value]) => `${name}=${value}`,
  );
  return [`# ${expectationOf(expected, rate)}`, ...lines].join('\n');
}

function expectationOf(outcomes: readonly Outcome[], rate: number | undefined): string {
  if (outcomes.length === 0) return 'not measured: too little time';
  const perSecond = spreadOf(outcomes.map((outcome) => outcome.perSecond));
  const p99Ms = spreadOf(outcomes.map((outcome) => outcome.p99Ms));
  const load = rate === undefined ? 'saturated' : `at ${rate} requests/s offered`;
  return `expected here, ${load}: ${spreadText(perSecond, 0)} requests/s, p99 ${spreadText(p99Ms, 1)} ms`;
}

function spreadText({ median, min, max }: ReturnType<typeof spreadOf>, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}

/** For the terminal. */
export function textOf(findings: TuneFindings): string {
  const { verdict, winner, defaults, goal } = findings;
  const p99Ms = expectedP99(findings);
  const lines = [
    `best of the search: ${nameOf(winner)}`,
    `defaults:           ${nameOf(defaults)}`,
    verdict.sentence,
    ...(goal.p99Ms !== undefined && p99Ms !== undefined && p99Ms > goal.p99Ms
      ? [`p99 stays above the ${goal.p99Ms} ms asked for: send less to this machine, or add machines.`]
      : []),
    ...(isGeneratorLimit(findings)
      ? [
          'The load generator was busy nearly all the time: throughput is what it could send, the server may do more.',
        ]
      : []),
    '',
    blockOf(findings),
  ];
  return lines.join('\n');
}

function expectedP99({ duel, verdict }: TuneFindings): number | undefined {
  const outcomes = verdict.recommends === 'winner' ? duel.winner : duel.defaults;
  return outcomes.length === 0 ? undefined : spreadOf(outcomes.map(({ p99Ms }) => p99Ms)).median;
}

function isGeneratorLimit({ rounds }: TuneFindings): boolean {
  return rounds.at(-1)?.some(({ result }) => result.generatorBusy > GENERATOR_BUSY_MAX) ?? false;
}

/** The same as a page. */
export function pageFor(findings: TuneFindings): string {
  const { machine, goal, rounds, duel } = findings;
  return pageOf({
    title: 'acuity tune',
    subtitle: `${machine}; goal: ${goal.name}${goal.p99Ms === undefined ? '' : `, p99 within ${goal.p99Ms} ms`}`,
    sections: [
      { heading: 'To paste', html: `<pre>${escapeHtml(textOf(findings))}</pre>` },
      {
        heading: 'The best of the search against the defaults',
        note: 'Measured in turn, pair by pair. Only a difference that every pair shows counts.',
        html: htmlTable([
          ['pair', 'winner, requests/s', 'defaults, requests/s', 'winner, p99 ms', 'defaults, p99 ms'],
          ...duel.defaults.map((defaults, pair) => [
            String(pair + 1),
            duel.winner[pair]?.perSecond.toFixed(0) ?? '–',
            defaults.perSecond.toFixed(0),
            duel.winner[pair]?.p99Ms.toFixed(1) ?? '–',
            defaults.p99Ms.toFixed(1),
          ]),
        ]),
      },
      ...rounds.map((trials, index) => ({
        heading: `Round ${index + 1} of the search`,
        note:
          index === 0
            ? 'Short measurements: the better half goes on to a round with twice the time each.'
            : '',
        html: roundTable(trials),
      })),
    ],
  });
}

function roundTable(trials: TuneFindings['rounds'][number]): string {
  const most = Math.max(...trials.map(({ result }) => result.perSecond), 1);
  const rows = trials.map(({ candidate, result: { perSecond, p99Ms, failure } }) => {
    const width = Math.round((perSecond / most) * 100);
    const cells = failure === undefined ? [perSecond.toFixed(0), p99Ms.toFixed(1)] : ['failed', '–'];
    const bar = `<span class="bar" style="width:${(width / 10).toFixed(1)}rem"></span>`;
    return `<tr><td>${escapeHtml(nameOf(candidate))}</td>${cells.map((cell) => `<td>${cell}</td>`).join('')}<td style="text-align:left">${bar}</td></tr>`;
  });
  return `<div class="wide"><table><tr><th>setting</th><th>requests/s</th><th>p99 ms</th><th></th></tr>${rows.join('')}</table></div>`;
}
