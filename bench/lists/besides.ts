import { markdownTable } from '#acuity/base/table.js';
import type { Measurement } from '#acuity/load/measurement.js';
import { pairwise } from '#acuity/load/statistics.js';
import type { BenchPayload } from '#bench/comparison/payload.js';
import { closedLoop, openLoop } from '#bench/load/generators.js';
import type { RunningPeer } from '#bench/server/service.js';
import { spread } from '#bench/spread.js';
import { askedOf, listsOf, singlesOf, type Kind } from './kind.js';
import type { ListSettings } from './settings.js';

/** Of saturation, as in the goals. */
const SHARE = 0.6;
/** Requests that find no connection for so long after the end are errors. */
const LATE_SECONDS = 5;
/** Requests at the fixed rate find a free one even if others wait beside them: else they would get half at most. */
const PACED_CONNECTIONS = 256;
/** Of other requests beside them: each is sent as soon as the one before is answered. */
const BESIDE_CONNECTIONS = 32;
const WARM_UP_SECONDS = 1;
const MICROS_PER_MS = 1000;

/** What fills the rest of the service; undefined: nothing. */
type Company = Kind | undefined;

/** One turn: the requests at a fixed rate, and the answers of their company. */
interface Turn {
  readonly paced: Measurement;
  readonly scoredPerSecond: number;
}

/**
 * The table of a payload: latency of requests at a fixed rate, beside nothing, beside other requests and beside lists
 * that take all that is left. The rate is a share of what the service answered in the same repetition.
 * @throws Error where an answer is wrong
 */
export async function besides(
  payload: BenchPayload,
  { lines, repetitions, seconds }: ListSettings,
  service: RunningPeer,
): Promise<string> {
  const questions = await askedOf(payload);
  const saturating = await singlesOf(service, 'other requests', questions);
  const singles = { ...saturating, load: { ...saturating.load, connections: BESIDE_CONNECTIONS } };
  const { kinds: lists, leftOut } = await listsOf(service, questions, lines);
  const companies: readonly Company[] = [undefined, singles, ...lists];
  const seen = new Map<Company, Turn[]>(companies.map((company) => [company, []]));
  for (const kind of [...lists, saturating]) await closedLoop({ ...kind.load, seconds: WARM_UP_SECONDS });
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const saturated = await closedLoop({ ...saturating.load, seconds });
    const rate = Math.max(1, Math.round((SHARE * saturated.requests) / saturated.seconds));
    for (const company of repetition % 2 === 0 ? companies : companies.toReversed())
      seen.get(company)?.push(await turn(singles, company, { rate, seconds }));
  }
  return [table(payload, seen, singles), ...leftOut].join('\n\n');
}

async function turn(
  { load }: Kind,
  company: Company,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<Turn> {
  const [paced, beside] = await Promise.all([
    openLoop({ ...load, connections: PACED_CONNECTIONS, seconds, rate, lateSeconds: LATE_SECONDS }),
    company && closedLoop({ ...company.load, seconds }),
  ]);
  const scored = (beside?.requests ?? 0) * (company?.lines ?? 0);
  return { paced, scoredPerSecond: beside === undefined ? 0 : scored / beside.seconds };
}

function table(payload: BenchPayload, seen: ReadonlyMap<Company, readonly Turn[]>, singles: Kind): string {
  const p99 = ({ paced }: Turn): number => paced.p99Micros / MICROS_PER_MS;
  const rows = [...seen].map(([company, turns]) => {
    const of = (valueOf: (turn: Turn) => number, digits: number): string =>
      spread(turns.map(valueOf), digits);
    const others = (seen.get(singles) ?? []).map(p99);
    return [
      company?.name ?? 'nothing',
      of(({ paced }) => paced.p50Micros / MICROS_PER_MS, 2),
      of(p99, 2),
      of(({ paced }) => paced.p999Micros / MICROS_PER_MS, 2),
      spread(
        pairwise(turns.map(p99), others, (value, other) => value / other),
        2,
      ),
      of(({ paced }) => paced.requests / paced.seconds, 0),
      of(({ paced }) => paced.errors, 0),
      of(({ scoredPerSecond }) => scoredPerSecond, 0),
    ];
  });
  const head = [
    `${payload}, beside`,
    'p50, ms',
    'p99, ms',
    'p99.9, ms',
    'p99 × beside other requests',
    'answered a second',
    'without a 200',
    'scored beside a second',
  ];
  return markdownTable([head, ...rows], { alignsRight: true });
}
