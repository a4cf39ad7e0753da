/** The run of `acuity tune`: search, comparison, block. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issue } from '../auth/lifecycle.js';
import { storesAt } from '../auth/location.js';
import { usableCores } from '../config/cores.js';
import { environment } from '../config/options.js';
import { busyMachine } from './load/statistics.js';
import { bodiesOf, PAYLOADS, type PayloadName } from './load/payloads.js';
import { candidatesFor, defaultsFor, nameOf, thinned, type Candidate } from './candidates.js';
import { compareOutcomes, judge, p99Words, type Duel, type Goal, type Outcome } from './goal.js';
import { affordable, halve } from './halving.js';
import { blockOf, type TuneFindings } from './report.js';
import { keysIn, loaded, startCandidate, tryCandidate, type Bench } from './trials.js';
import { messageOf } from '../base/errors.js';
import { print } from '../base/process/print.js';

export interface TuneOptions {
  readonly goal: Goal;
  readonly minutes: number;
  readonly connections: number;
  /** `mixed`: both alternately. */
  readonly payload: PayloadName | 'mixed';
  /** NDJSON of the operator's own requests, instead of a payload. */
  readonly requestsFile: string | undefined;
}

const MS_PER_MINUTE = 60_000;
/** The share of the time for the search; the rest compares its winner with the defaults. */
const SEARCH_SHARE = 0.65;
/** Reserved for the end, to stop two servers within the bound. */
const CLOSING_MS = 1_000;
/** The shortest useful trial: a start of the service and some tenths of a second of load. */
const TRIAL_MS = 1_800;
const PAIRS_WANTED = 6;
const SLICE_SECONDS_MAX = 10;
const SLICE_SECONDS_MIN = 0.2;

/** Searches the best settings of this machine for a goal. Prints the block to paste to standard output. */
export async function tune(options: TuneOptions): Promise<void> {
  const startMs = performance.now();
  const endMs = startMs + options.minutes * MS_PER_MINUTE - CLOSING_MS;
  const bodies = bodiesFor(options);
  const folder = mkdtempSync(join(tmpdir(), 'acuity-tune-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const key = await issueKey(folder);
  const { connections } = options;
  const bench: Bench = { folder, key, environment: environment(), bodies, connections, endMs };
  await print(`${blockOf(await search(bench, options.goal, startMs))}\n`);
}

function bodiesFor({ payload, requestsFile }: TuneOptions): readonly string[] {
  if (requestsFile === undefined) return payload === 'mixed' ? mixed() : bodiesOf(payload);
  const lines = readFileSync(requestsFile, 'utf8').split('\n');
  const bodies = lines.filter((line) => line.trim() !== '');
  if (bodies.length === 0) throw new Error(`${requestsFile} holds no requests`);
  return bodies;
}

function mixed(): string[] {
  const [first, second] = PAYLOADS.map((payload) => bodiesOf(payload));
  return (first ?? []).flatMap((body, index) => [body, second?.[index] ?? body]);
}

/** A live key without limits, in its own key store. */
async function issueKey(folder: string): Promise<string> {
  const { record, key } = issue({ kind: 'live', label: 'tune', ratePerS: null, dailyMax: null }, Date.now());
  await storesAt(keysIn(folder)).keys.insert(record);
  return key;
}

async function search(bench: Bench, goal: Goal, startMs: number): Promise<TuneFindings> {
  const busy = busyMachine();
  if (busy !== undefined) say(`${busy}: the machine is busy, and what is found holds for it as it is now`);
  const cores = usableCores();
  const defaults = defaultsFor(cores);
  const totalMs = bench.endMs - startMs;
  const all = candidatesFor(cores);
  const searchEndMs = startMs + totalMs * SEARCH_SHARE;
  const candidates = thinned(all, affordable(all.length, searchEndMs - performance.now(), TRIAL_MS));
  say(`${candidates.length} of ${all.length} settings fit into the time`);
  const rounds = await halve({
    candidates,
    endMs: searchEndMs,
    nowMs: () => performance.now(),
    begin: (round, planned, count) =>
      say(`round ${round} of ${planned}: ${count} setting${count === 1 ? '' : 's'}`),
    async measure(candidate, trialMs) {
      const outcome = await tryCandidate(bench, candidate, trialMs);
      say(`${nameOf(candidate)}: ${outcome.failure ?? wordsOf(outcome)}`);
      return outcome;
    },
    compare: (a, b) => compareOutcomes(goal, a, b),
  });
  const [best] = rounds.at(-1) ?? [];
  const winner = best?.candidate ?? defaults;
  if (nameOf(winner) === nameOf(defaults)) {
    const sentence = 'The search found nothing better than the defaults.';
    const duel = { winner: [], defaults: best === undefined ? [] : [best.result] };
    return { busy, goal, rounds, winner, defaults, duel, verdict: { recommends: 'defaults', sentence } };
  }
  say(`the best, ${nameOf(winner)}, against the defaults, ${nameOf(defaults)}`);
  const duel = await fight(bench, { winner, defaults });
  return { busy, goal, rounds, winner, defaults, duel, verdict: judge(goal, duel) };
}

/** Measures winner and defaults alternately until the time is over. */
async function fight(bench: Bench, sides: Readonly<Record<keyof Duel, Candidate>>): Promise<Duel> {
  const duel = { winner: [] as Outcome[], defaults: [] as Outcome[] };
  if (performance.now() >= bench.endMs) return duel;
  const names = ['defaults', 'winner'] as const;
  const servers = new Map<keyof Duel, Awaited<ReturnType<typeof startCandidate>>>();
  try {
    for (const name of names) servers.set(name, await startCandidate(bench, sides[name], name));
    const leftS = (bench.endMs - performance.now()) / 1000;
    const seconds = Math.min(
      SLICE_SECONDS_MAX,
      Math.max(SLICE_SECONDS_MIN, leftS / names.length / (PAIRS_WANTED + 2)),
    );
    for (const server of servers.values()) await loaded(bench, server, seconds);
    // The order alternates between pairs, so that neither is always second; a tenth of the time is for opening
    // connections.
    for (let pair = 0; performance.now() + names.length * seconds * 1100 < bench.endMs; pair++) {
      for (const name of pair % 2 === 0 ? names : names.toReversed()) {
        const server = servers.get(name);
        if (server === undefined) continue;
        const outcome = await loaded(bench, server, seconds);
        duel[name].push(outcome);
        say(`pair ${pair + 1}, ${name}: ${wordsOf(outcome)}`);
      }
    }
  } catch (error) {
    say(`the comparison ended early: ${messageOf(error)}`);
  } finally {
    await Promise.all([...servers.values()].map((server) => server.stop()));
  }
  const pairs = Math.min(duel.winner.length, duel.defaults.length);
  return { winner: duel.winner.slice(0, pairs), defaults: duel.defaults.slice(0, pairs) };
}

function wordsOf({ perSecond, p99Ms, errors }: Outcome): string {
  const faults = errors > 0 ? `, ${errors} without a 200` : '';
  return `${Math.round(perSecond)} requests/s, ${p99Words(p99Ms)}${faults}`;
}

function say(line: string): void {
  process.stderr.write(`acuity tune: ${line}\n`);
}
